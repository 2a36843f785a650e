/** Days in UTC, as a date field of a form sends them: `2026-09-25`. */

export const DAY_MS = 24 * 60 * 60_000

/** The 30th of February is none. */
export function isDay(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const at = Date.parse(`${value}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(value)
}

export function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}
