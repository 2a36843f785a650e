/** The Retry-After header of an HTTP answer, as the time to wait. */
import type { Instant } from './evidence.ts'

/**
 * Reads Retry-After by RFC 9110 10.2.3: a number of seconds, or a date.
 *
 * @param now the time that a date is compared with; the sender's own clock, where it is known
 * @returns milliseconds, 0 for a date that has passed; `undefined` without a header that can be read
 */
export function retryAfterMs(headers: Headers, now: Instant = Date.now()): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined
}
