/** Freshness: whether a claim was submitted so soon after the deed that the first look leaves no room for what came and went before. */
import type { Instant } from '../evidence.ts'
import { FRESH_MS, type Rules } from '../profile.ts'

/**
 * Why a claim is fresh, or is not:
 * - `claimed_at`: fresh, by its time alone.
 * - `claimed_ago`: fresh, by its time and by what the client's monotonic clock measured.
 * - `too_old`: one of the two says that the deed was earlier than the profile allows.
 * - `claimed_ahead`: the time is after the submission, so the client's clock is ahead, and nothing says by how much.
 * - `clock_ahead`: the same key dated another claim so within a day, and this one measures nothing.
 */
export const FRESH_REASONS = ['claimed_at', 'claimed_ago', 'too_old', 'claimed_ahead', 'clock_ahead'] as const
export type FreshReason = (typeof FRESH_REASONS)[number]

/** Rounding and the way to the service explain no more. Milliseconds. */
export const LARGEST_AHEAD_MS = 1000

const FRESH: readonly FreshReason[] = ['claimed_at', 'claimed_ago']

export function isFreshBy(reason: FreshReason): boolean {
  return FRESH.includes(reason)
}

interface Submission {
  readonly claimedAt: Instant
  readonly submittedAt: Instant
  /** How long before the submission the deed was, by a monotonic clock of the client. Milliseconds. */
  readonly claimedAgoMs?: number | undefined
  /** The key dated a claim ahead within a day. */
  readonly isClockAhead?: boolean
}

/** Freshness only ever enables blame. So whatever says that the claim is old, or that its time is wrong, counts. */
export function freshnessOf(
  { freshMs = FRESH_MS }: Pick<Rules, 'freshMs'>,
  { claimedAt, submittedAt, claimedAgoMs, isClockAhead = false }: Submission,
): FreshReason {
  if (claimedAt - submittedAt > LARGEST_AHEAD_MS) return 'claimed_ahead'
  if (Math.max(submittedAt - claimedAt, claimedAgoMs ?? 0) > freshMs) return 'too_old'
  if (claimedAgoMs !== undefined) return 'claimed_ago'
  return isClockAhead ? 'clock_ahead' : 'claimed_at'
}
