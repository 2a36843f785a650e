/** What an HTTP answer that is no answer says about why the destination could not be read. */
import { DestinationError, type Instant } from '@claimcheck/core/plugin'

/** What GitHub asks callers to wait for when a secondary limit names no time. */
const UNTOLD_LIMIT_MS = 60_000

/** @param message the destination's own words, where it gave any */
export function httpFailure(response: Response, now: Instant, message = ''): DestinationError {
  const { status, headers } = response
  if (isRateLimit(status, headers, message)) {
    return new DestinationError('rate_limited', { status, retryAfterMs: waitMs(headers, now) ?? UNTOLD_LIMIT_MS })
  }
  if (status === 401 || status === 407) return new DestinationError('unauthorized', { status })
  // A destination hides what it does not show: 404 means "not visible to us", never "not there".
  if (status === 403 || status === 404 || status === 451) return new DestinationError('forbidden', { status })
  if (status >= 500) {
    const retryAfterMs = waitMs(headers, now)
    return new DestinationError('unavailable', { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
  }
  return new DestinationError('unexpected_response', { status })
}

/** By name: a plugin and its host may carry different copies of core. */
export function isDestinationError(error: unknown): error is DestinationError {
  return error instanceof Error && error.name === 'DestinationError'
}

function isRateLimit(status: number, headers: Headers, message: string): boolean {
  if (status === 429) return true
  if (status !== 403) return false
  return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0' || /rate limit/i.test(message)
}

function waitMs(headers: Headers, now: Instant): number | undefined {
  // A time given by the destination's clock is held against that clock, where the answer tells it.
  const theirNow = Date.parse(headers.get('date') ?? '') || now
  const retryAfter = headers.get('retry-after')
  if (retryAfter !== null) {
    const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - theirNow
    if (!Number.isNaN(ms)) return Math.max(ms, 0)
  }
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN)
  return headers.get('x-ratelimit-remaining') === '0' && Number.isFinite(reset)
    ? Math.max(reset * 1000 - theirNow, 0)
    : undefined
}
