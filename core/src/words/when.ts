/** Moments in words. */
import type { Instant } from '../evidence.ts'
import { formatInstant, parseInstant } from '../time.ts'
import { duration } from './durations.ts'

/** `2026-11-22 14:02:11 UTC` */
export function utc(at: Instant): string {
  return formatInstant(at)
    .replace('T', ' ')
    .replace(/\.\d+Z$|Z$/, ' UTC')
}

/** A moment of a document, as people read it; what is none stays as it is. */
export function utcOf(text: string): string {
  const at = parseInstant(text)
  return at === undefined ? text : utc(at)
}

/** `37 s before`, `4 min 12 s after`, `at the same time as`: to be followed by what `at` is compared with. */
export function offsetFrom(reference: Instant, at: Instant): string {
  const ms = at - reference
  if (Math.abs(ms) < 100) return 'at the same time as'
  return `${duration(ms)} ${ms < 0 ? 'before' : 'after'}`
}
