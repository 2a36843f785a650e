/** Turns an HTTP answer other than success into the reason why the destination could not be read. */
import { DestinationError, type Instant, statusError } from '@claimcheck/core/plugin'

/** How long GitHub asks callers to wait when an answer about a secondary limit names no time. */
const DEFAULT_LIMIT_MS = 60_000

/** @param message the message in the answer's body, if there was one */
export function httpFailure(response: Response, now: Instant, message = ''): DestinationError {
  const { status } = response
  const usual = statusError(response, now)
  const isLimit = usual.code === 'rate_limited' || (status === 403 && /rate limit/i.test(message))
  if (isLimit) {
    return new DestinationError('rate_limited', { status, retryAfterMs: usual.retryAfterMs ?? DEFAULT_LIMIT_MS })
  }
  // Receipts of these actions have recorded 408 so since their first version.
  return usual.code === 'timeout' ? new DestinationError('unexpected_response', { status }) : usual
}

/** Of a host that answered something else than what was asked for. */
export function unexpected(): DestinationError {
  return new DestinationError('unexpected_response', { status: 200 })
}
