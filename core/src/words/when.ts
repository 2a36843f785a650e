/** Writes moments in words. */
import type { Instant } from '../evidence.ts'
import { formatInstant, parseInstant } from '../time.ts'
import { duration } from './durations.ts'

/** Writes a moment, such as `2026-11-22 14:02:11 UTC`. */
export function utc(at: Instant): string {
  return formatInstant(at)
    .replace('T', ' ')
    .replace(/\.\d+Z$|Z$/, ' UTC')
}

/** Writes a document's moment as people read it; a text that is none stays as it is. */
export function utcOf(text: string): string {
  const at = parseInstant(text)
  return at === undefined ? text : utc(at)
}

/** Compares two moments in words, to be followed by the name of `reference`: `37 s before`, `4 min 12 s after`, `at the same time as`. */
export function offsetFrom(reference: Instant, at: Instant): string {
  const ms = at - reference
  if (Math.abs(ms) < 100) return 'at the same time as'
  return `${duration(ms)} ${ms < 0 ? 'before' : 'after'}`
}
