/** Turns an HTTP answer other than success into the reason why the destination could not be read. */
import { DestinationError, type Instant, retryAfterMs } from '@claimcheck/core/plugin'

/** How long GitHub asks callers to wait when an answer about a secondary limit names no time. */
const DEFAULT_LIMIT_MS = 60_000

/** @param message the message in the answer's body, if there was one */
export function httpFailure(response: Response, now: Instant, message = ''): DestinationError {
  const { status, headers } = response
  if (isRateLimit(status, headers, message)) {
    return new DestinationError('rate_limited', { status, retryAfterMs: waitMs(headers, now) ?? DEFAULT_LIMIT_MS })
  }
  if (status === 401 || status === 407) return new DestinationError('unauthorized', { status })
  // Hosts answer 404 for repositories that we may not see: it never proves that there is none.
  if (status === 403 || status === 404 || status === 451) return new DestinationError('forbidden', { status })
  if (status >= 500) {
    const wait = waitMs(headers, now)
    return new DestinationError('unavailable', { status, ...(wait === undefined ? {} : { retryAfterMs: wait }) })
  }
  return new DestinationError('unexpected_response', { status })
}

function isRateLimit(status: number, headers: Headers, message: string): boolean {
  if (status === 429) return true
  if (status !== 403) return false
  return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0' || /rate limit/i.test(message)
}

function waitMs(headers: Headers, now: Instant): number | undefined {
  // A date in the answer is by the destination's clock, which the answer's Date header shows.
  const theirNow = Date.parse(headers.get('date') ?? '') || now
  const asked = retryAfterMs(headers, theirNow)
  if (asked !== undefined) return asked
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN)
  return headers.get('x-ratelimit-remaining') === '0' && Number.isFinite(reset)
    ? Math.max(reset * 1000 - theirNow, 0)
    : undefined
}
