/** Compares the time of a claim with the checks that read it, and with the destination's own records. */
import type { Instant, LogTime } from '../evidence.ts'

/** The least window before a claim, however short its profile's `removedWithinMs`: a client's clock may be this far ahead. */
const LEAST_WINDOW_MS = 5 * 60_000

/** The moment to which a place's own log is read back from its end. A log that does not reach so far back says `may_have_been`. */
export function windowStart(
  { claimedAt, submittedAt }: { readonly claimedAt: Instant; readonly submittedAt: Instant },
  removedWithinMs = 0,
): Instant {
  return Math.min(claimedAt, submittedAt) - Math.max(removedWithinMs, LEAST_WINDOW_MS)
}

/** Milliseconds by which a destination's clock is behind ours, by the `Date` of its answer; undefined without one. */
export function clockBehindMs(headers: Headers, now: Instant): number | undefined {
  const theirNow = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(theirNow) ? undefined : now - theirNow
}

/**
 * Tells whether a time is more than the tolerance before the claim, even if the destination's clock is behind as its answers say.
 *
 * @param at the time by the destination's clock
 * @param claim the claim's time, and the end of its tolerance as `inTimeUntil`
 * @returns false if the time or the clock is not known
 */
export function isLongBefore(
  at: LogTime | undefined,
  { clockBehindMs }: { readonly clockBehindMs?: number | undefined },
  { claimedAt, inTimeUntil }: { readonly claimedAt: Instant; readonly inTimeUntil: Instant },
): boolean {
  if (at === undefined || clockBehindMs === undefined) return false
  return at.notAfter + Math.max(clockBehindMs, 0) < claimedAt - (inTimeUntil - claimedAt)
}
