import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  decide,
  type FailureCode,
  type Interval,
  type Observation,
  type Rules,
} from '@claimcheck/core'
import t from 'tap'

// The claim was made at 0; it is in time until L = 600 s, and its deadline is D = 900 s.
const L = 600_000
const D = 900_000
const GRACE_END = D + CLOSING.graceMs
const CLAIM: ClaimTimes = { claimedAt: 0, deadlineAt: D, submittedAt: 0 }
const RULES: Rules = { required: { branch: 'target', sha: 'content' }, toleranceMs: L }

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
const failure = (sentAt: number, code: FailureCode, retryAt?: number): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + 100,
  failure: { code, ...(retryAt === undefined ? {} : { retryAt }) },
})

interface Row {
  readonly name: string
  readonly history: readonly CheckRecord[]
  /** `value` or `value/reason`; undefined: not decided yet. */
  readonly expected: string | undefined
  readonly appeared?: Interval
  readonly now?: number
  readonly claim?: Partial<ClaimTimes>
  readonly rules?: Partial<Rules>
}

const rows: Row[] = [
  { name: 'nothing was checked yet: not decided', history: [], expected: undefined, now: GRACE_END },

  // Present, all required fields equal.
  {
    name: 'an outcome seen at the end of the tolerance is verified',
    history: [present(L - 100)],
    expected: 'verified',
    appeared: { notAfter: L, source: 'observation' },
  },
  {
    name: 'an outcome whose answer came 1 ms after the tolerance is not decided by that',
    history: [present(L - 99)],
    expected: undefined,
  },
  {
    name: 'an outcome first seen after the tolerance, whose push log says it was in time, is verified',
    history: [present(L + 50_000, { appeared: [1000, 1999] })],
    expected: 'verified',
    appeared: { notBefore: 1000, notAfter: 1999, source: 'destination' },
  },
  {
    name: 'an outcome seen between two reads around the end of the tolerance straddles it and waits',
    history: [absent(L - 5000), present(L + 1)],
    expected: undefined,
  },
  {
    name: 'an outcome absent at the end of the tolerance and present before the deadline is late',
    history: [absent(L), present(L + 5000)],
    expected: 'late/observed_after_tolerance',
    appeared: { notBefore: L, notAfter: L + 5100, source: 'observation' },
  },
  {
    name: 'an outcome that the push log puts after the tolerance is late',
    history: [present(D - 1000, { appeared: [L + 1000, L + 1999] })],
    expected: 'late/observed_after_tolerance',
  },
  {
    name: 'an outcome that answered exactly at the deadline is not late: late ends before it',
    history: [absent(L), present(D - 100)],
    expected: undefined,
  },
  {
    name: 'an outcome absent after the tolerance and seen only after the deadline cannot be told late from missing',
    history: [absent(L), present(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'an outcome that the push log puts at the deadline was not there by it',
    history: [present(D + 5000, { appeared: [D, D + 999] })],
    expected: 'failed/not_found',
  },
  {
    name: 'a straddle that is settled is ambiguous at once',
    history: [present(L + 1, { settled: true })],
    expected: 'unverifiable/claim_ambiguous',
    appeared: { notAfter: L + 101, source: 'observation' },
  },
  {
    name: 'a straddle is ambiguous after the closing read',
    history: [present(L + 1), present(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a straddle that a later read places in time is verified',
    history: [present(L + 1), present(L + 60_000, { appeared: [5000, 5999] })],
    expected: 'verified',
  },
  {
    name: 'a straddle is ambiguous when the closing reads fail until the grace is over',
    history: [present(L + 1), failure(D, 'timeout'), failure(GRACE_END, 'timeout')],
    expected: 'unverifiable/claim_ambiguous',
  },

  // The destination's clock.
  {
    name: 'a point in time is widened by the clock offset: no more verified',
    history: [present(L + 50_000, { appeared: [L - 1000, L - 1], offset: 40_000 })],
    expected: undefined,
  },
  {
    name: 'a point in time is widened by the clock offset: no more late',
    history: [present(L + 50_000, { appeared: [L + 1000, L + 1999], offset: 2000 })],
    expected: undefined,
  },
  {
    name: 'a widened point is narrowed by our own reads',
    history: [absent(L + 1), present(L + 50_000, { appeared: [L + 1000, L + 1999], offset: 2000 })],
    expected: 'late/observed_after_tolerance',
    appeared: { notBefore: L + 1, notAfter: L + 3999, source: 'destination' },
  },
  {
    name: 'a point after our read of it contradicts itself and waits',
    history: [present(L + 5000, { appeared: [L + 60_000, L + 60_999] })],
    expected: undefined,
  },
  {
    name: 'a point before our last read that did not show it contradicts itself: ambiguous in the end',
    history: [absent(10_000), present(20_000, { appeared: [1000, 1999] }), present(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'our own clock, set back between two reads, contradicts itself: no more verified',
    history: [absent(L + 100_000), present(L - 50_000)],
    expected: undefined,
  },
  {
    name: 'a point in time by a clock that is a day off counts for nothing',
    history: [present(L + 50_000, { appeared: [1000, 1999], offset: 86_400_001 })],
    expected: undefined,
  },
  {
    name: 'stale replicas: an absent read bounds from its time less the lag',
    history: [absent(L), present(L + 5000)],
    rules: { lagMs: 10_000 },
    expected: undefined,
  },
  {
    name: 'stale replicas: an absent read a lag after the tolerance bounds late',
    history: [absent(L + 10_000), present(L + 15_000)],
    rules: { lagMs: 10_000 },
    expected: 'late/observed_after_tolerance',
  },
  {
    name: 'stale replicas: absence at the deadline is no closing read yet',
    history: [absent(D)],
    rules: { lagMs: 10_000 },
    expected: undefined,
  },
  {
    name: 'stale replicas: absence a lag after the deadline is failed',
    history: [absent(D + 10_000)],
    rules: { lagMs: 10_000 },
    expected: 'failed/not_found',
  },

  // A required field differs.
  { name: 'a difference waits for the deadline', history: [differs(1000, ['branch'])], expected: undefined },
  {
    name: 'a difference that is settled is a mismatch at once',
    history: [differs(1000, ['sha'], { settled: true })],
    expected: 'mismatch/content_mismatch',
  },
  {
    name: 'a difference at the closing read is a mismatch',
    history: [differs(1000, ['branch']), differs(D, ['branch'])],
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'where target and content differ, the target names the reason',
    history: [differs(D, ['sha', 'branch'])],
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'a difference that is gone at the closing read is what the closing read shows',
    history: [differs(1000, ['branch']), absent(D)],
    expected: 'failed/not_found',
  },
  {
    name: 'a difference that turns into the outcome before the tolerance ends is verified',
    history: [differs(1000, ['branch']), present(5000)],
    expected: 'verified',
  },
  {
    name: 'a difference read too late blames nobody',
    history: [differs(D + CLOSING.closingMs, ['branch'])],
    expected: 'unverifiable/claim_ambiguous',
  },

  // Absent.
  { name: 'absence before the deadline waits', history: [absent(1000), absent(D - 1)], expected: undefined },
  {
    name: 'absence at the deadline is failed',
    history: [absent(1000), absent(D)],
    expected: 'failed/not_found',
  },
  {
    name: 'absence answered at the end of the closing window is failed',
    history: [absent(D + CLOSING.closingMs - 100)],
    expected: 'failed/not_found',
  },
  {
    name: 'absence answered after the closing window blames nobody: the outcome may have come and gone',
    history: [absent(D + CLOSING.closingMs - 99)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: "absence read late that the destination's own record settles is failed",
    history: [absent(D + 60_000, { settled: true })],
    expected: 'failed/not_found',
  },
  {
    name: 'absence settled before the deadline still waits',
    history: [absent(1000, { settled: true })],
    expected: undefined,
  },
  {
    name: 'a claim submitted long after its deadline and absent is ambiguous',
    history: [absent(D + 3_600_000)],
    claim: { submittedAt: D + 3_600_000 },
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'a claim submitted long after its deadline is verified by a push log that has it in time',
    history: [present(D + 3_600_000, { appeared: [5000, 5999] })],
    claim: { submittedAt: D + 3_600_000 },
    expected: 'verified',
  },

  // Seen once, gone later.
  {
    name: 'an outcome that was seen and is gone at the closing read is ambiguous, never failed',
    history: [present(L + 1), absent(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'an outcome that was seen and differs at the closing read is ambiguous, never a mismatch',
    history: [present(L + 1), differs(D, ['branch'])],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'an outcome that was seen and differs for good is ambiguous, never a mismatch',
    history: [present(L + 1), differs(L + 5000, ['branch'], { settled: true }), absent(D)],
    expected: 'unverifiable/claim_ambiguous',
  },
  {
    name: 'absence after the first read that showed it does not bound when it appeared',
    history: [present(L + 1), absent(L + 5000), present(L + 9000)],
    expected: undefined,
  },

  // Could not read.
  { name: 'a failed read waits', history: [failure(1000, 'unavailable')], expected: undefined },
  {
    name: 'a failed closing read is tried again until the grace is over',
    history: [absent(1000), failure(D, 'timeout')],
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
      ['verifier_error', 'verifier_error'],
    ] as const
  ).map(([code, reason]) => ({
    name: `reads that end in ${code} when the grace is over are unverifiable: ${reason}`,
    history: [absent(1000), failure(D, 'timeout'), failure(GRACE_END - 100, code)],
    expected: `unverifiable/${reason}`,
  })),
  {
    name: 'a Retry-After beyond the grace ends the waiting at once',
    history: [failure(1000, 'rate_limited', GRACE_END + 1)],
    expected: 'unverifiable/rate_limited',
  },
  {
    name: 'a Retry-After up to the end of the grace is waited for',
    history: [failure(1000, 'rate_limited', GRACE_END)],
    expected: undefined,
  },
  {
    name: 'a host that was down over the deadline and reads nothing when it is back does not blame',
    history: [absent(1000), failure(D + 3_600_000, 'unavailable')],
    expected: 'unverifiable/destination_unavailable',
  },
  {
    name: 'a late submission has its own two minutes of trying again',
    history: [failure(D + 3_600_000, 'unavailable')],
    claim: { submittedAt: D + 3_600_000 },
    expected: undefined,
  },
  {
    name: 'a successful read before the deadline does not end the waiting, however late it is',
    history: [absent(1000)],
    now: D + 86_400_000,
    expected: undefined,
  },
  {
    name: 'a closing read that succeeds after failed ones, within the window, is failed',
    history: [failure(D, 'timeout'), absent(D + 10_000)],
    expected: 'failed/not_found',
  },

  // Nothing to wait for.
  ...(
    [
      ['ambiguous_claim', 'claim_ambiguous'],
      ['no_connection', 'no_connection'],
      ['unsupported_action', 'unsupported_action'],
    ] as const
  ).map(([code, reason]) => ({
    name: `${code} is unverifiable at once: ${reason}`,
    history: [failure(1000, code)],
    expected: `unverifiable/${reason}`,
  })),
]

for (const { name, history, expected, appeared, now, claim, rules } of rows) {
  t.test(name, async (t) => {
    const last = history.at(-1)?.answeredAt ?? 0
    const decision = decide({ ...RULES, ...rules }, { ...CLAIM, ...claim }, history, now ?? last)
    const verdict = decision && [decision.verdict.value, decision.verdict.reasonCode].filter(Boolean).join('/')
    t.equal(verdict, expected)
    if (appeared) t.strictSame(decision?.appeared, appeared)
    if (decision) t.ok(history.includes(decision.basis), 'the verdict rests on a recorded check')
  })
}
