/** Moments as text: UTC, exactly three fraction digits, so that comparing the texts compares the moments. */
import type { Instant } from './evidence.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** `2026-09-25T14:02:11.000Z`. @throws RangeError for a moment outside of the years 0000 to 9999 */
export function formatInstant(instant: Instant): string {
  const text = new Date(instant).toISOString()
  if (!TIMESTAMP.test(text)) throw new RangeError('the moment has no four-digit year')
  return text
}

/** `undefined` when the text is not in exactly that form, or names a day or time that does not exist. */
export function parseInstant(text: string): Instant | undefined {
  if (!TIMESTAMP.test(text)) return undefined
  const instant = Date.parse(text)
  // Date.parse takes 30 February for 2 March, and 24:00 for the next day.
  return Number.isNaN(instant) || new Date(instant).toISOString() !== text ? undefined : instant
}
