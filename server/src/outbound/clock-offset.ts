/** How far a destination's clock is off from ours, as far as one answer's `Date` header tells. */
import type { Instant } from '@claimcheck/core'

/** The header is in whole seconds. */
const RESOLUTION_MS = 1000

/** 0 while the header's second and the time of the exchange overlap, and where there is no header. Milliseconds, without sign. */
export function clockOffset(date: string | null, sentAt: Instant, answeredAt: Instant): number {
  const from = Date.parse(date ?? '')
  if (Number.isNaN(from)) return 0
  const until = from + RESOLUTION_MS - 1
  return Math.max(0, from - answeredAt, sentAt - until)
}
