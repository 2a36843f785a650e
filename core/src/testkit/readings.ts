/** What the answers of a check tell of the destination's clock and of their age: a host notes it, whatever the plugin says. */
import type { Instant } from '../evidence.ts'

export interface Readings {
  readonly sentAt: Instant | undefined
  /** Between which two values the destination's clock is ahead of ours. Milliseconds. */
  readonly ahead: { readonly least: number; readonly most: number } | undefined
  readonly isUndated: boolean
  readonly ageMs: number
}

export const NO_READINGS: Readings = { sentAt: undefined, ahead: undefined, isUndated: false, ageMs: 0 }

/** The header has whole seconds. */
const RESOLUTION_MS = 1000

export function readAnswer(headers: Headers, sentAt: Instant, answeredAt: Instant): Readings {
  const from = Date.parse(headers.get('date') ?? '')
  const age = headers.get('age') ?? ''
  const isUndated = Number.isNaN(from)
  return {
    sentAt,
    ahead: isUndated ? undefined : { least: from - answeredAt, most: from + RESOLUTION_MS - 1 - sentAt },
    isUndated,
    ageMs: /^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0,
  }
}

export function mergeReadings(one: Readings, other: Readings): Readings {
  const [a, b] = [one.ahead, other.ahead]
  return {
    sentAt: Math.min(one.sentAt ?? Number.POSITIVE_INFINITY, other.sentAt ?? Number.POSITIVE_INFINITY),
    ahead: a && b ? { least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) } : (a ?? b),
    isUndated: one.isUndated || other.isUndated,
    ageMs: Math.max(one.ageMs, other.ageMs),
  }
}

/** undefined where nothing bounds it. Milliseconds. */
export function clockOffset({ ahead, isUndated }: Readings): number | undefined {
  return !ahead || isUndated ? undefined : Math.max(Math.abs(ahead.least), Math.abs(ahead.most))
}
