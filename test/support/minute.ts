/** Rate limits and quotas count by the minute of the clock. */
import { setTimeout } from 'node:timers/promises'

const MINUTE_MS = 60_000
const MARGIN_MS = 10_000

/** Counts begin anew with each minute: none begins while a test counts. */
export async function minuteWithRoom(): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS)
  if (leftMs < MARGIN_MS) await setTimeout(leftMs)
}
