/** Moments in words. */
import { formatInstant, type Instant } from '@claimcheck/core'
import { duration } from './durations.ts'

/** `2026-11-22 14:02:11 UTC` */
export function utc(at: Instant): string {
  return formatInstant(at)
    .replace('T', ' ')
    .replace(/\.\d+Z$|Z$/, ' UTC')
}

/** `37 s before`, `4 min 12 s after`, `at the same time as`: to be followed by what `at` is compared with. */
export function offsetFrom(reference: Instant, at: Instant): string {
  const ms = at - reference
  if (Math.abs(ms) < 100) return 'at the same time as'
  return `${duration(ms)} ${ms < 0 ? 'before' : 'after'}`
}
