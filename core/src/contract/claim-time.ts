/** How the time of a claim compares with the checks that read it, and with the destination's own records. */
import type { Instant, LogTime } from '../evidence.ts'

/** However short a profile's `removedWithinMs`: a client's clock may be this far ahead. */
const LEAST_WINDOW_MS = 5 * 60_000

/** A place's own log is read from its end back to here; one that does not reach so far back says `may_have_been`. */
export function windowStart(
  { claimedAt, submittedAt }: { readonly claimedAt: Instant; readonly submittedAt: Instant },
  removedWithinMs = 0,
): Instant {
  return Math.min(claimedAt, submittedAt) - Math.max(removedWithinMs, LEAST_WINDOW_MS)
}

/** How far a destination's clock is behind ours, by the `Date` of its answer; undefined without one. Milliseconds. */
export function clockBehindMs(headers: Headers, now: Instant): number | undefined {
  const theirNow = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(theirNow) ? undefined : now - theirNow
}

/**
 * More than the tolerance before the claim, also when the destination's clock is behind as its answers say.
 *
 * @param at by the destination's clock
 * @param claim `inTimeUntil`: the end of the tolerance
 * @returns false where the time or the clock is not known
 */
export function isLongBefore(
  at: LogTime | undefined,
  { clockBehindMs }: { readonly clockBehindMs?: number | undefined },
  { claimedAt, inTimeUntil }: { readonly claimedAt: Instant; readonly inTimeUntil: Instant },
): boolean {
  if (at === undefined || clockBehindMs === undefined) return false
  return at.notAfter + Math.max(clockBehindMs, 0) < claimedAt - (inTimeUntil - claimedAt)
}
