/** Verdicts: their values and reasons, and what they are decided from. */
import type { CheckRecord, FailureCode, Instant, Interval } from './evidence.ts'

export const VERDICTS = ['verified', 'late', 'mismatch', 'failed', 'unverifiable'] as const
export type VerdictValue = (typeof VERDICTS)[number]

/** The closed list of reasons of each verdict. */
export const REASONS = {
  verified: [],
  late: ['observed_after_tolerance'],
  mismatch: ['content_mismatch', 'target_mismatch'],
  failed: ['not_found'],
  unverifiable: [
    'no_connection',
    'permission_denied',
    'rate_limited',
    'destination_unavailable',
    'unsupported_action',
    'claim_ambiguous',
    'verifier_error',
  ],
} as const satisfies Record<VerdictValue, readonly string[]>
export type ReasonCode = (typeof REASONS)[VerdictValue][number]

export interface Verdict {
  readonly value: VerdictValue
  /** The reason of the verdict, given with every value but `verified`. */
  readonly reasonCode?: ReasonCode
}

/**
 * Reasons why a claim is fresh, or is not:
 * - `claimed_at`: fresh, by its time alone.
 * - `claimed_ago`: fresh, by its time and by what the client's monotonic clock measured.
 * - `too_old`: one of the two says that the deed was earlier than the profile allows.
 * - `claimed_ahead`: the time is after the submission, so the client's clock is ahead, and nothing says by how much.
 * - `clock_ahead`: the same key dated another claim so within a day, and this one measures nothing.
 */
export const FRESH_REASONS = ['claimed_at', 'claimed_ago', 'too_old', 'claimed_ahead', 'clock_ahead'] as const
export type FreshReason = (typeof FRESH_REASONS)[number]

/** The times of a claim that its verdict depends on. */
export interface ClaimTimes {
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
  readonly submittedAt: Instant
  /** The finding of intake on whether the claim is fresh. Rules of version 1 do not use it; without it, those of version 2 go by the two times. */
  readonly freshBy?: FreshReason | null
}

/** Limits around the end of a claim's time, in milliseconds. */
export interface Closing {
  /** Time after the deadline within which a read of absence blames. */
  readonly closingMs: number
  /** Time after the deadline, or the submission if it is later, in which failing reads are tried again. */
  readonly graceMs: number
}

export const CLOSING: Closing = { closingMs: 30_000, graceMs: 120_000 }

export interface Decision {
  readonly verdict: Verdict
  /** The interval in which the outcome appeared, if the evidence shows it. */
  readonly appeared?: Interval
  /** The record that the verdict rests on. */
  readonly basis: CheckRecord
  /** Milliseconds for which the outcome may have been there in time, unseen, if blame rests on looks alone, by rules from version 2 on. */
  readonly largestGapMs?: number
}

/** The reason of an `unverifiable` that a failed check causes. A place that answered is not called unavailable: what it showed decides nothing. */
export const FAILURE_REASONS: Readonly<Record<FailureCode, ReasonCode>> = {
  unauthorized: 'permission_denied',
  forbidden: 'permission_denied',
  no_connection: 'no_connection',
  rate_limited: 'rate_limited',
  unavailable: 'destination_unavailable',
  timeout: 'destination_unavailable',
  unexpected_response: 'claim_ambiguous',
  too_large: 'claim_ambiguous',
  misconfigured: 'no_connection',
  unsupported_target: 'unsupported_action',
  ambiguous_claim: 'claim_ambiguous',
  unsupported_action: 'unsupported_action',
  verifier_error: 'verifier_error',
}

/** Failures after which looking again cannot help. */
export const FINAL_FAILURES: ReadonlySet<FailureCode> = new Set([
  'ambiguous_claim',
  'no_connection',
  'unsupported_action',
  'unsupported_target',
])
