/** Freshness of a claim: it is submitted so soon after the deed that the first look leaves no room for what came and went before. */
import type { Instant } from '../evidence.ts'
import { FRESH_MS, type Rules } from '../profile.ts'
import type { FreshReason } from '../verdict.ts'

/** Milliseconds by which rounding and the way to the service can date a claim after its submission. */
export const LARGEST_AHEAD_MS = 1000

/** Milliseconds by which the clock of a client may be off. A claim can be dated so long after its submission. */
export const CLOCK_SKEW_MS = 5 * 60_000

const FRESH: readonly FreshReason[] = ['claimed_at', 'claimed_ago']

export function isFreshBy(reason: FreshReason): boolean {
  return FRESH.includes(reason)
}

interface SubmissionTimes {
  readonly claimedAt: Instant
  readonly submittedAt: Instant
  /** Milliseconds between the deed and the submission, by a monotonic clock of the client. */
  readonly claimedAgoMs?: number | undefined
  /** Tells whether the key dated a claim ahead within a day. */
  readonly isClockAhead?: boolean
}

/** Judges freshness, which only ever enables blame. So whatever says that the claim is old, or that its time is wrong, counts. */
export function freshnessOf(
  { freshMs = FRESH_MS }: Pick<Rules, 'freshMs'>,
  { claimedAt, submittedAt, claimedAgoMs, isClockAhead = false }: SubmissionTimes,
): FreshReason {
  if (claimedAt - submittedAt > LARGEST_AHEAD_MS) return 'claimed_ahead'
  if (Math.max(submittedAt - claimedAt, claimedAgoMs ?? 0) > freshMs) return 'too_old'
  if (claimedAgoMs !== undefined) return 'claimed_ago'
  return isClockAhead ? 'clock_ahead' : 'claimed_at'
}

/**
 * Tells whether a claim's times leave it the reason that intake found. Two of the reasons need more than the times: a clock that measured, and a key
 * whose clock was ahead.
 */
export function canBeFreshBy(rules: Pick<Rules, 'freshMs'>, times: SubmissionTimes, reason: FreshReason): boolean {
  const byTimes = freshnessOf(rules, { claimedAt: times.claimedAt, submittedAt: times.submittedAt })
  return byTimes === 'claimed_at' ? reason !== 'claimed_ahead' : reason === byTimes
}

/**
 * Tells whether the clock behind `claimedAt` is so far behind that the deed, as the client's monotonic clock measured it, was after the tolerance:
 * a claim of work that was done could only be blamed. Clocks are taken for right to five minutes.
 */
export function isClockBehind(
  rules: Pick<Rules, 'toleranceMs'>,
  { claimedAt, submittedAt, claimedAgoMs }: SubmissionTimes,
): boolean {
  const behindMs = submittedAt - (claimedAgoMs ?? Number.POSITIVE_INFINITY) - claimedAt
  return behindMs > Math.max(rules.toleranceMs, CLOCK_SKEW_MS)
}
