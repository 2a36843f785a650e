/** Tells whether a series begins with its first event: exceptions can take that one out or replace it, and a rule can end before it, or leave it out. */
import type { Property } from './line.ts'
import { type Moment, readMoments, textOf } from './moment.ts'
import { readRule, takesIn } from './rule.ts'
import type { ZoneOf } from './zone.ts'

/** Exceptions beyond which a series is not compared with them. */
const MOST_EXCEPTIONS = 2000

/**
 * Tells whether the first event of a series takes place for certain, by its RRULE and EXDATE lines.
 * @param replaced the moments of the series that single events stand for, undefined where they cannot be read
 * @param local the time of the first event by the clocks of the series, not a number where it is not known
 */
export function hasFirst(
  start: Moment | undefined,
  recurrence: readonly Property[],
  replaced: readonly (Moment | undefined)[],
  zoneOf: ZoneOf,
  local = start?.local ?? Number.NaN,
): boolean {
  const first = textOf(start)
  if (!start || first === undefined || recurrence.some(({ name }) => name === 'EXRULE')) return false
  const excluded = recurrence.filter(({ name }) => name === 'EXDATE').flatMap((dates) => readMoments(dates, zoneOf))
  const exceptions = [...excluded, ...replaced]
  if (exceptions.length > MOST_EXCEPTIONS) return false
  return (
    exceptions.every((exception) => isOther(exception, start, first)) &&
    recurrence.every(({ name, value = '' }) => name !== 'RRULE' || hasTime(value, first, local))
  )
}

/** Tells whether a moment is certainly another one: a day may stand for any time in it. */
function isOther(moment: Moment | undefined, start: Moment, first: string): boolean {
  if (moment?.kind !== 'zoned' || start.kind !== 'zoned' || moment.zone !== start.zone) {
    const text = textOf(moment)
    return text !== undefined && text.length === first.length && text !== first
  }
  return moment.local !== start.local
}

/** Tells whether a rule takes in the first event, and does not end before it. Its end may be a day, or a time without the zone of the series. */
function hasTime(value: string, first: string, local: number): boolean {
  const rule = readRule(value)
  if (!rule || !takesIn(rule, local)) return false
  const until = rule.get('UNTIL')
  if (until === undefined) return true
  const [moment] = readMoments({ name: 'UNTIL', params: [], value: until }, () => undefined)
  const end = textOf(moment)
  return end !== undefined && end >= first.slice(0, end.length)
}
