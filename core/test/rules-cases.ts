/** Cases of the verdict rules as rows, and the checks that they are made of. */
import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  type Closing,
  decide,
  type FailureCode,
  type Interval,
  type Mark,
  type Observation,
  type Rules,
  type Stay,
} from '@claimcheck/core/rules'
import t from 'tap'

// The claim was made and submitted at 0; it is in time until L = 600 s, and its deadline is D = 900 s.
export const HOUR = 3_600_000
export const L = 600_000
export const D = 900_000
export const WINDOW_END = D + CLOSING.closingMs
export const GRACE_END = D + CLOSING.graceMs
export const CLAIM: ClaimTimes = { claimedAt: 0, deadlineAt: D, submittedAt: 0 }
export const RULES: Rules = {
  rulesVersion: 1,
  required: { branch: 'target', sha: 'content' },
  toleranceMs: L,
  removedWithinMs: 24 * HOUR,
}

export const FAILED = 'failed/not_found'
export const LATE = 'late/observed_after_tolerance'
export const AMBIGUOUS = 'unverifiable/claim_ambiguous'
export const UNAVAILABLE = 'unverifiable/destination_unavailable'
/** Not decided yet. */
export const WAITS = undefined

export type Case = readonly [
  /** `value` or `value/reason`. */
  expected: string | undefined,
  name: string,
  checks: readonly CheckRecord[],
  more?: {
    readonly appeared?: Interval
    /** When the last check was answered, unless given. */
    readonly now?: number
    readonly claim?: Partial<ClaimTimes>
    readonly rules?: Partial<Rules>
    readonly closing?: Partial<Closing>
    readonly largestGapMs?: number
  },
]

export function testCases(cases: readonly Case[]): void {
  for (const [expected, name, checks, { appeared, now, claim, rules, closing, largestGapMs } = {}] of cases) {
    t.test(`${name}: ${expected ?? 'waits'}`, async (t) => {
      const at = now ?? checks.at(-1)!.answeredAt
      const decision = decide({ ...RULES, ...rules }, { ...CLAIM, ...claim }, checks, at, { ...CLOSING, ...closing })
      const verdict = decision && [decision.verdict.value, decision.verdict.reasonCode].filter(Boolean).join('/')
      t.equal(verdict, expected)
      if (appeared) t.strictSame(decision?.appeared, appeared)
      if (largestGapMs !== undefined) t.equal(decision?.largestGapMs, largestGapMs)
      if (decision) t.ok(checks.includes(decision.basis), 'the verdict is based on a recorded check')
    })
  }
}

interface Shape {
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
  readonly offset?: number
  readonly took?: number
  readonly ageMs?: number
  readonly dated?: boolean
  /** How far the destination's clock was ahead for certain. */
  readonly ahead?: number
  /** By how much our clock was set since the submission. */
  readonly set?: number
}

function read(sentAt: number, observation: Observation, shape: Shape): CheckRecord {
  const { stays, mark, offset = 0, took = 100, ageMs = 0, dated = true, ahead, set } = shape
  const told = { ...(stays ? { stays } : {}), ...(mark ? { mark } : {}) }
  return {
    sentAt,
    answeredAt: sentAt + took,
    observation: { ...observation, ...told },
    clockOffsetMs: offset,
    dated,
    ...(ahead === undefined ? {} : { clockAheadMs: ahead }),
    ...(set === undefined ? {} : { clockSetMs: set }),
    ageMs,
  }
}

export const absent = (sentAt: number, shape: Shape = {}) => read(sentAt, { kind: 'absent', facts: {} }, shape)
export const present = (sentAt: number, shape: Shape = {}) =>
  read(sentAt, { kind: 'present', facts: {}, differs: [] }, shape)
export const differs = (sentAt: number, fields: string[], shape: Shape = {}) =>
  read(sentAt, { kind: 'present', facts: {}, differs: fields }, shape)
/** A stay by the log, in whole seconds. */
export const stay = (from: number, removed?: number, whole = false): Stay => ({
  appeared: { notBefore: from, notAfter: from + 999 },
  ...(removed === undefined ? {} : { removed: { notBefore: removed, notAfter: removed + 999 } }),
  ...(whole ? { removedWhole: true } : {}),
})
/** All that the log of the place lists. */
export const log = (...stays: readonly Stay[]) => ({ stays })

/** Of a read at a place that forgets. */
export const FORGETS = { mark: 'may_have_been' } as const
/** Of a read at a place that shows that it was never there. */
export const NEVER = { mark: 'never_before' } as const

export const failure = (sentAt: number, code: FailureCode, retryAt?: number): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + 100,
  failure: { code, ...(retryAt === undefined ? {} : { retryAt }) },
})
