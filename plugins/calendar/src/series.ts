/** Tells whether a series begins with its first event: exceptions can take that one out or replace it, and a rule can end before it. */
import type { Property } from './line.ts'
import { type Moment, readMoments, textOf } from './moment.ts'
import type { ZoneOf } from './zone.ts'

/** Exceptions beyond which a series is not compared with them. */
const MOST_EXCEPTIONS = 2000

/**
 * Tells whether the first event of a series takes place for certain, by its RRULE and EXDATE lines.
 * @param replaced the moments of the series that single events stand for, undefined where they cannot be read
 */
export function hasFirst(
  start: Moment | undefined,
  recurrence: readonly Property[],
  replaced: readonly (Moment | undefined)[],
  zoneOf: ZoneOf,
): boolean {
  const first = textOf(start)
  if (!start || first === undefined || recurrence.some(({ name }) => name === 'EXRULE')) return false
  const excluded = recurrence.filter(({ name }) => name === 'EXDATE').flatMap((dates) => readMoments(dates, zoneOf))
  const exceptions = [...excluded, ...replaced]
  if (exceptions.length > MOST_EXCEPTIONS) return false
  return (
    exceptions.every((exception) => isOther(exception, start, first)) &&
    recurrence.every((property) => property.name !== 'RRULE' || reaches(property, first))
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

/** Tells whether a rule does not end before the first event. Its end may be a day, or a time without the zone of the series. */
function reaches({ value = '' }: Property, first: string): boolean {
  const until = /(?:^|;)UNTIL=([^;]*)/i.exec(value)?.[1]
  if (until === undefined) return true
  const [moment] = readMoments({ name: 'UNTIL', params: [], value: until }, () => undefined)
  const end = textOf(moment)
  return end !== undefined && end >= first.slice(0, end.length)
}
