/** Writes and reads moments as text: in UTC with exactly three fraction digits, so that the texts sort like the moments. */
import type { Instant } from './evidence.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const DAY_MS = 86_400_000
/** The last moment that a receipt can express, because a year has four digits. */
export const LATEST_INSTANT: Instant = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

// The texts of the days written lately: the day is the slow part of a moment's text, and the moments of a claim are of few days.
const days = new Map<number, string>()
const MAX_DAYS = 64

/** Writes a moment: `2026-09-25T14:02:11.000Z`. @throws RangeError for a moment outside the years 0000 to 9999 */
export function formatInstant(instant: Instant): string {
  const whole = Math.trunc(instant)
  const day = Math.floor(whole / DAY_MS)
  const ms = whole - day * DAY_MS
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const time = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`
  return `${dayText(day)}T${time}.${threeDigits(ms % 1000)}Z`
}

function dayText(day: number): string {
  const known = days.get(day)
  if (known !== undefined) return known
  const text = new Date(day * DAY_MS).toISOString()
  if (!TIMESTAMP.test(text)) throw new RangeError('the moment has no four-digit year')
  if (days.size === MAX_DAYS) days.clear()
  days.set(day, text.slice(0, 10))
  return text.slice(0, 10)
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

function threeDigits(value: number): string {
  return value < 100 ? `0${twoDigits(value)}` : String(value)
}

/** Reads a moment; undefined unless the text is exactly what `formatInstant` writes for one. */
export function parseInstant(text: string): Instant | undefined {
  if (!TIMESTAMP.test(text)) return undefined
  const instant = Date.parse(text)
  if (Number.isNaN(instant) || instant > LATEST_INSTANT) return undefined
  // Date.parse reads 30 February as 2 March, and 24:00 as the next day.
  return formatInstant(instant) === text ? instant : undefined
}
