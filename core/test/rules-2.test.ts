/** Version 2 of the verdict rules, one row for each case. Threat A1 of `security.md`. */
import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  decide,
  type Mark,
  type Observation,
  type Rules,
  type Stay,
} from '@claimcheck/core'
import t from 'tap'
import { type Case, failure, testCases } from './rules-cases.ts'

// The claim was made at 0; it is in time until L = 600 s, and its deadline is D = 900 s.
const HOUR = 3_600_000
const L = 600_000
const D = 900_000
const WINDOW_END = D + CLOSING.closingMs
const GRACE_END = D + CLOSING.graceMs
const CLAIM: ClaimTimes = { claimedAt: 0, deadlineAt: D, submittedAt: 0 }
const RULES: Rules = {
  rulesVersion: 2,
  required: { branch: 'target', sha: 'content' },
  toleranceMs: L,
  removedWithinMs: 24 * HOUR,
}

interface Shape {
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
  readonly offset?: number
  readonly took?: number
  readonly ageMs?: number
  readonly dated?: boolean
}

function read(sentAt: number, observation: Observation, shape: Shape): CheckRecord {
  const { stays, mark, offset = 0, took = 100, ageMs = 0, dated = true } = shape
  const told = { ...(stays ? { stays } : {}), ...(mark ? { mark } : {}) }
  return {
    sentAt,
    answeredAt: sentAt + took,
    observation: { ...observation, ...told },
    clockOffsetMs: offset,
    dated,
    ageMs,
  }
}
const absent = (sentAt: number, shape: Shape = {}) => read(sentAt, { kind: 'absent', facts: {} }, shape)
const present = (sentAt: number, shape: Shape = {}) => read(sentAt, { kind: 'present', facts: {}, differs: [] }, shape)
const differs = (sentAt: number, fields: string[], shape: Shape = {}) =>
  read(sentAt, { kind: 'present', facts: {}, differs: fields }, shape)
/** A stay by the log, in whole seconds. */
const stay = (from: number, removed?: number, whole = false): Stay => ({
  appeared: { notBefore: from, notAfter: from + 999 },
  ...(removed === undefined ? {} : { removed: { notBefore: removed, notAfter: removed + 999 } }),
  ...(whole ? { removedWhole: true } : {}),
})
const FIRST = absent(1000)

const rows: Case[] = [
  { name: 'nothing was checked yet: not decided', checks: [], expected: undefined, now: GRACE_END },
  {
    name: 'a claim that fits several connections is ambiguous at once',
    checks: [failure(0, 'ambiguous_claim')],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a claim without a connection is unverifiable at once',
    checks: [failure(0, 'no_connection')],
    expected: 'unverifiable/no_connection',
  },
  {
    name: 'an action that nothing checks is unverifiable at once',
    checks: [failure(0, 'unsupported_action')],
    expected: 'unverifiable/unsupported_action',
  },

  // Verified.
  {
    name: 'an outcome whose answer came at the end of the tolerance is verified',
    checks: [present(L - 100)],
    expected: 'verified',
    appeared: { notAfter: L, source: 'observation' },
  },
  {
    name: 'an answer 1 ms after the tolerance alone decides nothing',
    checks: [present(L - 99)],
    expected: undefined,
  },
  {
    name: 'the log has it in time although reads saw absence before it was listed: verified',
    checks: [absent(L - 1000), absent(L + 1000), present(L + 30_000, { stays: [stay(L - 2000)] })],
    expected: 'verified',
    appeared: { notBefore: L - 2000, notAfter: L - 1001, source: 'destination' },
  },
  {
    name: 'the log has it in time although it is gone now: verified',
    checks: [absent(D, { stays: [stay(5000, 60_000)] })],
    expected: 'verified',
  },
  {
    name: 'pushed and deleted with its whole branch before the claim: verified',
    checks: [absent(1000, { stays: [stay(-HOUR, -60_000, true)] })],
    expected: 'verified',
    appeared: { notBefore: -HOUR, notAfter: -HOUR + 999, source: 'destination' },
  },
  {
    name: 'pushed more than the window before the claim, and deleted with its branch: waits',
    checks: [absent(1000, { stays: [stay(-25 * HOUR, -60_000, true)] })],
    expected: undefined,
  },
  {
    name: 'a whole branch that is deleted counts only where the profile has a window',
    checks: [absent(1000, { stays: [stay(-HOUR, -60_000, true)] })],
    rules: { removedWithinMs: 0 },
    expected: undefined,
  },
  {
    name: 'forced away before the claim: waits, it may be pushed again',
    checks: [absent(1000, { stays: [stay(-HOUR, -60_000)] })],
    expected: undefined,
  },
  {
    name: 'forced away before the claim and pushed again in time: verified',
    checks: [
      absent(1000, { stays: [stay(-HOUR, -60_000)] }),
      present(5000, { stays: [stay(3000), stay(-HOUR, -60_000)] }),
    ],
    expected: 'verified',
  },
  {
    name: 'forced away before the claim and pushed again late: late',
    checks: [
      absent(L + 1000, { stays: [stay(-HOUR, -60_000)] }),
      present(L + 9000, { stays: [stay(L + 5000), stay(-HOUR, -60_000)] }),
    ],
    expected: 'late/observed_after_tolerance',
  },
  {
    name: 'forced away before the claim and not pushed again: ambiguous',
    checks: [absent(1000, { stays: [stay(-HOUR, -60_000)] }), absent(D, { stays: [stay(-HOUR, -60_000)] })],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a stay that ended before the window does not keep an absence from blame',
    checks: [FIRST, absent(D, { stays: [stay(-50 * HOUR, -25 * HOUR)], mark: 'never_before' })],
    expected: 'failed/not_found',
  },
  {
    name: 'the clock that widens a point past the end of the tolerance leaves it open',
    checks: [present(L + 5000, { stays: [stay(L - 1500)], offset: 600 })],
    expected: undefined,
  },
  {
    name: 'a log without a clock gives no points: not verified by it',
    checks: [present(L + 5000, { stays: [stay(1000)], dated: false })],
    expected: undefined,
  },
  {
    name: 'a log without a clock that shows a stay keeps its end from blame',
    checks: [FIRST, absent(D, { stays: [stay(1000, 60_000)], dated: false })],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a clock that is off by more than a day gives no points',
    checks: [present(L + 5000, { stays: [stay(1000)], offset: 25 * HOUR })],
    expected: undefined,
  },

  // Late and failed, of what is there.
  {
    name: 'absent at the end of the tolerance and present before the deadline, without a log: late',
    checks: [absent(L), present(L + 5000)],
    expected: 'late/observed_after_tolerance',
    appeared: { notBefore: L, notAfter: L + 5100, source: 'observation' },
  },
  {
    name: 'late needs two reads that are two seconds apart',
    checks: [absent(L), present(L + 1900)],
    expected: undefined,
  },
  {
    name: 'a log that puts it late blames after a second read',
    checks: [present(L + 50_000, { stays: [stay(L + 1000)] })],
    expected: undefined,
  },
  {
    name: 'a log that puts it late, read twice: late',
    checks: [present(L + 50_000, { stays: [stay(L + 1000)] }), present(L + 52_000, { stays: [stay(L + 1000)] })],
    expected: 'late/observed_after_tolerance',
  },
  {
    name: 'where a log can be read and does not list it yet, our reads alone never say late',
    checks: [absent(L, { stays: [] }), present(L + 5000, { stays: [] })],
    expected: undefined,
  },
  {
    name: 'a log that never lists it: ambiguous after the closing read',
    checks: [absent(L, { stays: [] }), present(L + 5000, { stays: [] }), present(D, { stays: [] })],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a log that is written after the fact bounds from above, our reads from below: late',
    checks: [absent(L), present(L + 5000, { stays: [{ appeared: { notAfter: L + 4000 } }] })],
    expected: 'late/observed_after_tolerance',
    appeared: { notBefore: L, notAfter: L + 4000, source: 'destination' },
  },
  {
    name: 'a log that is written after the fact and says in time outweighs our stale reads',
    checks: [absent(L + 1000), present(L + 5000, { stays: [{ appeared: { notAfter: L - 500 } }] })],
    expected: 'verified',
  },
  {
    name: 'a stale replica makes nobody late: absence counts less the age of the answer',
    checks: [absent(L + 5000, { ageMs: 10_000 }), present(L + 30_000)],
    expected: undefined,
  },
  {
    name: 'an absence in a place that forgets bounds nothing',
    checks: [absent(L, { mark: 'may_have_been' }), present(L + 5000)],
    expected: undefined,
  },
  {
    name: 'an answer exactly at the deadline is not late',
    checks: [absent(L), present(D - 100)],
    expected: undefined,
  },
  {
    name: 'absent at the deadline and present after it: failed',
    checks: [absent(D - 5000), absent(D, { took: 50 }), present(D + 3000)],
    expected: 'failed/not_found',
  },
  {
    name: 'a log that puts it at the deadline: failed, after a second read',
    checks: [present(D + 5000, { stays: [stay(D)] }), present(D + 8000, { stays: [stay(D)] })],
    expected: 'failed/not_found',
  },
  {
    name: 'a straddle waits for the closing read',
    checks: [absent(L - 5000), present(L + 1)],
    expected: undefined,
  },
  {
    name: 'a straddle is ambiguous after the closing read',
    checks: [absent(L - 5000), present(L + 1), present(D)],
    expected: 'unverifiable/claim_ambiguous',
    appeared: { notBefore: L - 5000, notAfter: L + 101, source: 'observation' },
  },
  {
    name: 'a straddle that the log places in time later is verified',
    checks: [present(L + 1, { stays: [] }), present(L + 60_000, { stays: [stay(5000)] })],
    expected: 'verified',
  },
  {
    name: 'ever shown, then gone, is never blamed: it waits',
    checks: [present(L + 1), absent(L + 60_000)],
    expected: undefined,
  },
  {
    name: 'ever shown, then gone: ambiguous at the end, even where the last read says that it never was',
    checks: [present(L + 1), absent(D, { mark: 'never_before' })],
    expected: 'unverifiable/claim_ambiguous',
  },

  // Contradictions.
  {
    name: 'points that exclude each other are ambiguous in the end',
    checks: [
      present(L + 10_000, { stays: [stay(L + 1000)] }),
      present(L + 12_000, { stays: [stay(L + 5000)] }),
      present(D),
    ],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a point after the answer that showed it contradicts',
    checks: [present(L + 1000), present(L + 20_000, { stays: [stay(L + 9000)] }), present(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a clock that was set back between two reads contradicts: not verified by it',
    checks: [absent(L + 5000), present(L - 5000)],
    expected: undefined,
  },

  // Marks.
  {
    name: 'a difference that is final is a mismatch after a second read',
    checks: [differs(1000, ['sha'], { mark: 'final' })],
    expected: undefined,
  },
  {
    name: 'a difference that is final, read twice, is a mismatch long before the deadline',
    checks: [differs(1000, ['sha'], { mark: 'final' }), differs(3000, ['sha'], { mark: 'final' })],
    expected: 'mismatch/content_mismatch',
  },
  {
    name: 'never before, read before the deadline: it may still come',
    checks: [FIRST, absent(D - 1, { mark: 'never_before' })],
    expected: undefined,
  },
  {
    name: 'never before, at the deadline: failed',
    checks: [FIRST, absent(D, { mark: 'never_before' })],
    expected: 'failed/not_found',
  },
  {
    name: 'never before, where the answer may be as old as from before the deadline: waits',
    checks: [FIRST, absent(D + 5000, { mark: 'never_before', ageMs: 10_000 })],
    expected: undefined,
  },
  {
    name: 'never before, long after the closing window: failed',
    checks: [FIRST, absent(GRACE_END + HOUR, { mark: 'never_before' })],
    expected: 'failed/not_found',
  },
  {
    name: 'never before and elsewhere: mismatch',
    checks: [FIRST, differs(D, ['branch'], { mark: 'never_before' })],
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'never before outweighs an earlier read of a place that forgets',
    checks: [absent(1000, { mark: 'may_have_been' }), absent(D, { mark: 'never_before' })],
    expected: 'failed/not_found',
  },
  {
    name: 'may have been, at the closing read: ambiguous',
    checks: [FIRST, absent(D, { mark: 'may_have_been' })],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'may have been, at an earlier read: ambiguous',
    checks: [absent(1000, { mark: 'may_have_been' }), absent(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'differing in a place that forgets: ambiguous',
    checks: [FIRST, differs(D, ['branch'], { mark: 'may_have_been' })],
    expected: 'unverifiable/claim_ambiguous',
  },

  // The closing read.
  { name: 'absent before the deadline: waits', checks: [FIRST, absent(D - 1)], expected: undefined },
  { name: 'absent at the deadline: failed', checks: [FIRST, absent(D)], expected: 'failed/not_found' },
  {
    name: 'absent at the end of the closing window: failed',
    checks: [FIRST, absent(WINDOW_END)],
    expected: 'failed/not_found',
  },
  {
    name: 'the closing read comes after the deadline and the age of answers',
    checks: [FIRST, absent(D + 9999, { ageMs: 10_000 })],
    expected: undefined,
  },
  {
    name: 'the closing read after the age of answers: failed',
    checks: [FIRST, absent(D + 10_000, { ageMs: 10_000 })],
    expected: 'failed/not_found',
  },
  {
    name: 'differing at the deadline: mismatch by the role of the field',
    checks: [FIRST, differs(D, ['branch'])],
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'where a target and a content differ, the target is told',
    checks: [FIRST, differs(D, ['sha', 'branch'])],
    expected: 'mismatch/target_mismatch',
  },
  { name: 'one read alone blames nobody', checks: [absent(D)], expected: undefined },
  {
    name: 'two reads that are less than two seconds apart blame nobody',
    checks: [absent(D), absent(D + 1999)],
    expected: undefined,
  },
  { name: 'two reads after the deadline blame', checks: [absent(D), absent(D + 2000)], expected: 'failed/not_found' },
  {
    name: 'a blame that no second read confirms ends as the failure that was in the way',
    checks: [absent(D), failure(GRACE_END, 'timeout')],
    expected: 'unverifiable/destination_unavailable',
  },

  // No closing read.
  {
    name: 'failing reads are tried again until the end of the grace',
    checks: [FIRST, failure(D + 5000, 'unavailable')],
    expected: undefined,
  },
  {
    name: 'failing reads at the end of the grace: their reason',
    checks: [FIRST, failure(GRACE_END, 'forbidden')],
    expected: 'unverifiable/permission_denied',
  },
  {
    name: 'answers that are too large at the end of the grace: their reason',
    checks: [FIRST, failure(GRACE_END, 'too_large')],
    expected: 'unverifiable/destination_unavailable',
  },
  {
    name: 'a connection that cannot work as it is may be mended: it is tried again',
    checks: [FIRST, failure(D + 5000, 'misconfigured')],
    expected: undefined,
  },
  {
    name: 'a connection that cannot work as it is at the end of the grace: no connection',
    checks: [FIRST, failure(GRACE_END, 'misconfigured')],
    expected: 'unverifiable/no_connection',
  },
  {
    name: 'a target that the verifier cannot read ends it at once',
    checks: [failure(1000, 'unsupported_target')],
    expected: 'unverifiable/unsupported_action',
  },
  {
    name: 'a wait beyond the grace ends it at once',
    checks: [FIRST, failure(D + 1000, 'rate_limited', GRACE_END + 1)],
    expected: 'unverifiable/rate_limited',
  },
  {
    name: 'absent after the window, with failures within it: their reason',
    checks: [FIRST, failure(D + 1000, 'timeout'), absent(WINDOW_END + 1)],
    expected: 'unverifiable/destination_unavailable',
  },
  {
    name: 'a check that was under way at the deadline, and failed after the grace: its reason',
    checks: [{ ...failure(D - 500, 'timeout'), answeredAt: GRACE_END + 1 }],
    expected: 'unverifiable/destination_unavailable',
  },
  {
    name: 'absent after the window, and a failure before the deadline: our own fault',
    checks: [failure(D - 5000, 'timeout'), absent(WINDOW_END + 1)],
    expected: 'unverifiable/verifier_error',
  },
  {
    name: 'absent after the window, and nothing was tried within it: our own fault',
    checks: [FIRST, absent(WINDOW_END + 1)],
    expected: 'unverifiable/verifier_error',
  },
  {
    name: 'absent after the window, which a wait that the destination asked for covered: its reason',
    checks: [FIRST, failure(D - 1000, 'rate_limited', WINDOW_END + 1), absent(WINDOW_END + 2)],
    expected: 'unverifiable/rate_limited',
  },
  {
    name: 'submitted after the window, and absent: ambiguous',
    claim: { submittedAt: WINDOW_END + 1 },
    checks: [absent(WINDOW_END + 2)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'submitted after the window, and the log has it in time: verified',
    claim: { submittedAt: WINDOW_END + 1 },
    checks: [present(WINDOW_END + 2, { stays: [stay(5000)] })],
    expected: 'verified',
  },
]

testCases(rows, RULES, CLAIM)

t.test('a version of the rules that nobody wrote is refused', async (t) => {
  t.throws(() => decide({ ...RULES, rulesVersion: 4 as 3 }, CLAIM, [FIRST], D), RangeError)
})
