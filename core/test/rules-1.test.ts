/** The verdict rules, one row for each case: what is there, marks, and the closing read. Threat A1 of `security.md`. */

import {
  absent,
  type Case,
  D,
  differs,
  failure,
  GRACE_END,
  HOUR,
  L,
  present,
  stay,
  testCases,
  WINDOW_END,
} from './rules-cases.ts'

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
      absent(1000, { stays: [stay(-HOUR, -60_000)] }),
      absent(L + 1000, { stays: [stay(-HOUR, -60_000)] }),
      ...[9000, 12_000].map((at) => present(L + at, { stays: [stay(L + 5000), stay(-HOUR, -60_000)] })),
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
    checks: [FIRST, absent(L), present(L + 5000), present(L + 7000)],
    expected: 'late/observed_after_tolerance',
    appeared: { notBefore: L, notAfter: L + 5100, source: 'observation' },
  },
  {
    name: 'late needs two reads that show it and are two seconds apart',
    checks: [FIRST, absent(L), present(L + 5000), present(L + 6999)],
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
    checks: [absent(L, { stays: [] }), ...[5000, 8000].map((at) => present(L + at, { stays: [] }))],
    expected: undefined,
  },
  {
    name: 'a log that never lists it: ambiguous after the closing read',
    checks: [absent(L, { stays: [] }), present(L + 5000, { stays: [] }), present(D, { stays: [] })],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a log that is written after the fact bounds from above, our reads from below: late',
    checks: [
      FIRST,
      absent(L),
      ...[5000, 7000].map((at) => present(L + at, { stays: [{ appeared: { notAfter: L + 4000 } }] })),
    ],
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
    checks: [FIRST, absent(L + 5000, { ageMs: 10_000 }), present(L + 30_000), present(L + 33_000)],
    expected: undefined,
  },
  {
    name: 'an absence in a place that forgets bounds nothing',
    checks: [FIRST, absent(L, { mark: 'may_have_been' }), present(L + 5000), present(L + 8000)],
    expected: undefined,
  },
  {
    name: 'an answer exactly at the deadline is not late',
    checks: [FIRST, absent(L), present(D - 100), present(D + 2000)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'absent at the deadline and present after it: failed',
    checks: [FIRST, absent(D, { took: 50 }), present(D + 3000), present(D + 5000)],
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
    checks: [D, D + 3000].map((at) => differs(at, ['branch'], { mark: 'never_before' })),
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
    checks: [1000, D].map((at) => differs(at, ['branch'])),
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'where a target and a content differ, the target is told',
    checks: [1000, D].map((at) => differs(at, ['sha', 'branch'])),
    expected: 'mismatch/target_mismatch',
  },
  { name: 'one read alone blames nobody', checks: [absent(D, { stays: [] })], expected: undefined },
  {
    name: 'two reads that are less than two seconds apart blame nobody',
    checks: [D, D + 1999].map((at) => absent(at, { stays: [] })),
    expected: undefined,
  },
  {
    name: 'two reads after the deadline blame',
    checks: [D, D + 2000].map((at) => absent(at, { stays: [] })),
    expected: 'failed/not_found',
  },
  {
    name: 'a blame that no second read confirms ends as the failure that was in the way',
    checks: [absent(D, { stays: [] }), failure(GRACE_END, 'timeout')],
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

testCases(rows)
