/** Times and lengths of time in words. */
import { formatInstant, type Instant } from '@claimcheck/core'

/** `2026-11-22 14:02:11 UTC` */
export function utc(at: Instant): string {
  return formatInstant(at)
    .replace('T', ' ')
    .replace(/\.\d+Z$|Z$/, ' UTC')
}

const UNITS = [
  ['day', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** In its two largest units: `4 min 12 s`. Less than a second is `less than 1 s`. @param ms not negative */
export function lengthOf(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const first = UNITS.findIndex(([, size]) => seconds >= size)
  if (first < 0) return 'less than 1 s'
  let rest = seconds
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? '' : `${count} ${unit === 'day' && count > 1 ? 'days' : unit}`
  })
  return parts.filter((part) => part !== '').join(' ')
}

/** `37 s before`, `4 min 12 s after`, `at the same time as`: to be followed by what `at` is compared with. */
export function offsetFrom(reference: Instant, at: Instant): string {
  const ms = at - reference
  if (Math.abs(ms) < 1000) return 'at the same time as'
  return `${lengthOf(Math.abs(ms))} ${ms < 0 ? 'before' : 'after'}`
}
