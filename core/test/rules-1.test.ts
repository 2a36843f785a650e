/** Version 1 of the verdict rules, one row for each case. */
import { type CheckRecord, CLOSING, type ClaimTimes, type Observation, type Rules } from '@claimcheck/core'
import { type Case, failure, testCases } from './rules-cases.ts'

// The claim was made at 0. L = 600 s is the end of the tolerance, D = 900 s the deadline.
const L = 600_000
const D = 900_000
const GRACE_END = D + CLOSING.graceMs
const CLAIM: ClaimTimes = { claimedAt: 0, deadlineAt: D, submittedAt: 0 }
const RULES: Rules = { rulesVersion: 1, required: { branch: 'target', sha: 'content' }, toleranceMs: L }

type Shape = { appeared?: [number | undefined, number]; settled?: boolean; offset?: number; took?: number }

function read(sentAt: number, observation: Observation, { offset = 0, took = 100 }: Shape = {}): CheckRecord {
  return { sentAt, answeredAt: sentAt + took, observation, clockOffsetMs: offset }
}
const absent = (sentAt: number, shape: Shape = {}) =>
  read(sentAt, { kind: 'absent', facts: {}, ...(shape.settled ? { settled: true } : {}) }, shape)
const differs = (sentAt: number, fields: string[], shape: Shape = {}) =>
  read(sentAt, { kind: 'present', facts: {}, differs: fields, ...(shape.settled ? { settled: true } : {}) }, shape)
const present = (sentAt: number, shape: Shape = {}) => {
  const [notBefore, notAfter] = shape.appeared ?? []
  const appeared =
    notAfter === undefined ? {} : { appeared: { notAfter, ...(notBefore === undefined ? {} : { notBefore }) } }
  const settled = shape.settled ? { settled: true } : {}
  return read(sentAt, { kind: 'present', facts: {}, differs: [], ...appeared, ...settled }, shape)
}

const rows: Case[] = [
  { name: 'a claim without checks is not decided', checks: [], expected: undefined, now: GRACE_END },

  // Present with all required fields equal.
  {
    name: 'an outcome seen at the end of the tolerance is verified',
    checks: [present(L - 100)],
    expected: 'verified',
    appeared: { notAfter: L, source: 'observation' },
  },
  {
    name: 'an outcome whose answer comes 1 ms after the tolerance is not decided yet',
    checks: [present(L - 99)],
    expected: undefined,
  },
  {
    name: 'an outcome first seen after the tolerance is verified when the push log shows that it was in time',
    checks: [present(L + 50_000, { appeared: [1000, 1999] })],
    expected: 'verified',
    appeared: { notBefore: 1000, notAfter: 1999, source: 'destination' },
  },
  {
    name: 'an outcome that appeared between two reads around the end of the tolerance is not decided yet',
    checks: [absent(L - 5000), present(L + 1)],
    expected: undefined,
  },
  {
    name: 'an outcome absent at the end of the tolerance and present before the deadline is late',
    checks: [absent(L), present(L + 5000)],
    expected: 'late/observed_after_tolerance',
    appeared: { notBefore: L, notAfter: L + 5100, source: 'observation' },
  },
  {
    name: 'an outcome that came after the tolerance by the push log is late',
    checks: [present(D - 1000, { appeared: [L + 1000, L + 1999] })],
    expected: 'late/observed_after_tolerance',
  },
  {
    name: 'an outcome whose answer comes exactly at the deadline is not late',
    checks: [absent(L), present(D - 100)],
    expected: undefined,
  },
  {
    name: 'an outcome that appeared between the tolerance and a read after the deadline is ambiguous',
    checks: [absent(L), present(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'an outcome that came at the deadline by the push log is failed',
    checks: [present(D + 5000, { appeared: [D, D + 999] })],
    expected: 'failed/not_found',
  },
  {
    name: 'an outcome that may be in time or late is ambiguous at once when the read is settled',
    checks: [present(L + 1, { settled: true })],
    expected: 'unverifiable/claim_ambiguous',
    appeared: { notAfter: L + 101, source: 'observation' },
  },
  {
    name: 'an outcome that may be in time or late is ambiguous after the closing read',
    checks: [present(L + 1), present(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'an outcome that may be in time or late is verified when a later read shows that it was in time',
    checks: [present(L + 1), present(L + 60_000, { appeared: [5000, 5999] })],
    expected: 'verified',
  },
  {
    name: 'an outcome that may be in time or late is ambiguous when the closing reads fail until the grace is over',
    checks: [present(L + 1), failure(D, 'timeout'), failure(GRACE_END, 'timeout')],
    expected: 'unverifiable/claim_ambiguous',
  },

  // The destination's clock.
  {
    name: 'a time of the destination is uncertain by the clock offset: it is not verified',
    checks: [present(L + 50_000, { appeared: [L - 1000, L - 1], offset: 40_000 })],
    expected: undefined,
  },
  {
    name: 'a time of the destination is uncertain by the clock offset: it is not late',
    checks: [present(L + 50_000, { appeared: [L + 1000, L + 1999], offset: 2000 })],
    expected: undefined,
  },
  {
    name: 'our own reads narrow a time that is uncertain by the clock offset',
    checks: [absent(L + 1), present(L + 50_000, { appeared: [L + 1000, L + 1999], offset: 2000 })],
    expected: 'late/observed_after_tolerance',
    appeared: { notBefore: L + 1, notAfter: L + 3999, source: 'destination' },
  },
  {
    name: 'a time after the read that shows the outcome is a contradiction and not decided yet',
    checks: [present(L + 5000, { appeared: [L + 60_000, L + 60_999] })],
    expected: undefined,
  },
  {
    name: 'a time before a read without the outcome is a contradiction and ambiguous in the end',
    checks: [absent(10_000), present(20_000, { appeared: [1000, 1999] }), present(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'when our own clock was set back between two reads, the outcome is not verified',
    checks: [absent(L + 100_000), present(L - 50_000)],
    expected: undefined,
  },
  {
    name: 'a time by a clock that is more than a day off does not count',
    checks: [present(L + 50_000, { appeared: [1000, 1999], offset: 86_400_001 })],
    expected: undefined,
  },
  {
    name: 'with a lag, an absent read shows the state before the lag',
    checks: [absent(L), present(L + 5000)],
    rules: { ageMs: 10_000 },
    expected: undefined,
  },
  {
    name: 'with a lag, absence at the tolerance plus the lag makes a later outcome late',
    checks: [absent(L + 10_000), present(L + 15_000)],
    rules: { ageMs: 10_000 },
    expected: 'late/observed_after_tolerance',
  },
  {
    name: 'with a lag, a read at the deadline is not a closing read yet',
    checks: [absent(D)],
    rules: { ageMs: 10_000 },
    expected: undefined,
  },
  {
    name: 'with a lag, absence at the deadline plus the lag is failed',
    checks: [absent(D + 10_000)],
    rules: { ageMs: 10_000 },
    expected: 'failed/not_found',
  },

  // A required field differs.
  { name: 'a difference waits for the deadline', checks: [differs(1000, ['branch'])], expected: undefined },
  {
    name: 'a difference that is settled is a mismatch at once',
    checks: [differs(1000, ['sha'], { settled: true })],
    expected: 'mismatch/content_mismatch',
  },
  {
    name: 'a difference at the closing read is a mismatch',
    checks: [differs(1000, ['branch']), differs(D, ['branch'])],
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'when target and content differ, the reason is the target',
    checks: [differs(D, ['sha', 'branch'])],
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'a difference followed by absence at the closing read is failed',
    checks: [differs(1000, ['branch']), absent(D)],
    expected: 'failed/not_found',
  },
  {
    name: 'a difference that turns into the outcome before the tolerance ends is verified',
    checks: [differs(1000, ['branch']), present(5000)],
    expected: 'verified',
  },
  {
    name: 'a difference that is read too late is ambiguous',
    checks: [differs(D + CLOSING.closingMs, ['branch'])],
    expected: 'unverifiable/claim_ambiguous',
  },

  // Absent.
  { name: 'absence before the deadline waits', checks: [absent(1000), absent(D - 1)], expected: undefined },
  {
    name: 'absence at the deadline is failed',
    checks: [absent(1000), absent(D)],
    expected: 'failed/not_found',
  },
  {
    name: 'absence answered at the end of the closing window is failed',
    checks: [absent(D + CLOSING.closingMs - 100)],
    expected: 'failed/not_found',
  },
  {
    name: 'absence answered after the closing window is ambiguous: the outcome may have been removed',
    checks: [absent(D + CLOSING.closingMs - 99)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: "absence that is read late is failed when the destination's own record settles it",
    checks: [absent(D + 60_000, { settled: true })],
    expected: 'failed/not_found',
  },
  {
    name: 'absence settled before the deadline still waits',
    checks: [absent(1000, { settled: true })],
    expected: undefined,
  },
  {
    name: 'absence for a claim that was submitted long after its deadline is ambiguous',
    checks: [absent(D + 3_600_000)],
    claim: { submittedAt: D + 3_600_000 },
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a claim that was submitted long after its deadline is verified when the push log shows that it was in time',
    checks: [present(D + 3_600_000, { appeared: [5000, 5999] })],
    claim: { submittedAt: D + 3_600_000 },
    expected: 'verified',
  },

  // Seen once, and removed later.
  {
    name: 'an outcome that was seen and is absent at the closing read is ambiguous, never failed',
    checks: [present(L + 1), absent(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'an outcome that was seen and differs at the closing read is ambiguous, never a mismatch',
    checks: [present(L + 1), differs(D, ['branch'])],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'an outcome that was seen and then has a settled difference is ambiguous, never a mismatch',
    checks: [present(L + 1), differs(L + 5000, ['branch'], { settled: true }), absent(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'absence after the first read that showed the outcome says nothing about when it appeared',
    checks: [present(L + 1), absent(L + 5000), present(L + 9000)],
    expected: undefined,
  },

  // Could not read.
  { name: 'a failed read waits', checks: [failure(1000, 'unavailable')], expected: undefined },
  {
    name: 'a failed closing read is repeated until the grace is over',
    checks: [absent(1000), failure(D, 'timeout')],
    now: GRACE_END - 1,
    expected: undefined,
  },
  ...(
    [
      ['unauthorized', 'permission_denied'],
      ['forbidden', 'permission_denied'],
      ['rate_limited', 'rate_limited'],
      ['unavailable', 'destination_unavailable'],
      ['timeout', 'destination_unavailable'],
      ['unexpected_response', 'destination_unavailable'],
      ['too_large', 'destination_unavailable'],
      ['misconfigured', 'no_connection'],
      ['verifier_error', 'verifier_error'],
    ] as const
  ).map(([code, reason]) => ({
    name: `${code} when the grace is over is unverifiable: ${reason}`,
    checks: [absent(1000), failure(D, 'timeout'), failure(GRACE_END - 100, code)],
    expected: `unverifiable/${reason}`,
  })),
  {
    name: 'a Retry-After beyond the grace ends the waiting at once',
    checks: [failure(1000, 'rate_limited', GRACE_END + 1)],
    expected: 'unverifiable/rate_limited',
  },
  {
    name: 'a Retry-After before the end of the grace is respected',
    checks: [failure(1000, 'rate_limited', GRACE_END)],
    expected: undefined,
  },
  {
    name: 'a failed read by a host that was down at the deadline is unverifiable',
    checks: [absent(1000), failure(D + 3_600_000, 'unavailable')],
    expected: 'unverifiable/destination_unavailable',
  },
  {
    name: 'the grace of a claim that is submitted late begins with its submission',
    checks: [failure(D + 3_600_000, 'unavailable')],
    claim: { submittedAt: D + 3_600_000 },
    expected: undefined,
  },
  {
    name: 'a read before the deadline does not decide, however much time has passed',
    checks: [absent(1000)],
    now: D + 86_400_000,
    expected: undefined,
  },
  {
    name: 'absence read in the closing window after failed reads is failed',
    checks: [failure(D, 'timeout'), absent(D + 10_000)],
    expected: 'failed/not_found',
  },

  // Failures that no later check can change.
  ...(
    [
      ['ambiguous_claim', 'claim_ambiguous'],
      ['no_connection', 'no_connection'],
      ['unsupported_action', 'unsupported_action'],
      ['unsupported_target', 'unsupported_action'],
    ] as const
  ).map(([code, reason]) => ({
    name: `${code} is unverifiable at once: ${reason}`,
    checks: [failure(1000, code)],
    expected: `unverifiable/${reason}`,
  })),
]

testCases(rows, RULES, CLAIM)
