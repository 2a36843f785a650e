/** Estimates from an answer's `Date` header how much a destination's clock differs from this service's clock. */
import type { Instant } from '@claimcheck/core'

/** The header is in whole seconds. */
const RESOLUTION_MS = 1000

/**
 * The smallest difference that explains the header, in milliseconds and without sign. 0 when the header's second overlaps the exchange,
 * and when the answer has no header.
 */
export function clockOffset(date: string | null, sentAt: Instant, answeredAt: Instant): number {
  const from = Date.parse(date ?? '')
  if (Number.isNaN(from)) return 0
  const until = from + RESOLUTION_MS - 1
  return Math.max(0, from - answeredAt, sentAt - until)
}
