/** Reads an object's own definition of a time zone (RFC 5545 3.6.5): parts with an offset, each of which begins at times of its own. */
import { type Rule, readRule, takesIn } from './rule.ts'

/** A part of a definition. Times are those of a clock, as milliseconds since the epoch if they were UTC. */
export interface Observance {
  /** The offset that begins, in milliseconds. */
  readonly offset: number | undefined
  readonly start: number | undefined
  /** Further times at which it begins. */
  readonly dates: readonly (number | undefined)[]
  /** The text of its rules. */
  readonly rules: readonly string[]
}

/** Tells the offset of a definition at a time; undefined where it is not certain. */
export type OffsetOf = (local: number) => number | undefined

/** Limits of what is looked through for each time: parts with their rules, and dates. */
const MOST_PARTS = 50
const MOST_DATES = 1000
const DAY_MS = 24 * 3_600_000

export function offsetsOf(observances: readonly Observance[]): OffsetOf {
  const [first, ...others] = observances
  // Without another offset it does not matter when one begins.
  if (others.every(({ offset }) => offset === first?.offset)) return () => first?.offset
  const [parts, dates] = [observances.flatMap(({ rules }) => ['', ...rules]), observances.flatMap(({ dates }) => dates)]
  if (parts.length > MOST_PARTS || dates.length > MOST_DATES) return () => undefined
  const read = observances.map(({ rules, ...rest }) => ({ ...rest, rules: rules.map(readRule) }))
  return (local) => {
    const begun = read.map(({ offset, ...times }) => ({ offset, at: lastOnset(times, local) }))
    const last = Math.max(...begun.map(({ at }) => at))
    const [current, ...rest] = begun.filter(({ at }) => at === last)
    return Number.isFinite(last) && rest.length === 0 ? current!.offset : undefined
  }
}

interface Onsets extends Pick<Observance, 'start' | 'dates'> {
  readonly rules: readonly (Rule | undefined)[]
}

/** Finds when a part began last before a time; minus infinity for one that has not begun; not a number where that is not certain. */
function lastOnset({ start = Number.NaN, dates, rules }: Onsets, local: number): number {
  const begun = [start, ...dates.map((date = Number.NaN) => date)].map((at) =>
    at > local ? Number.NEGATIVE_INFINITY : at,
  )
  const ruled = start > local ? [] : rules.map((rule) => lastOfRule(rule, start, local))
  return Math.max(...begun, ...ruled)
}

/** Finds the last time of a rule of one month a year; not a number for other rules. */
function lastOfRule(rule: Rule | undefined, start: number, local: number): number {
  const month = Number(rule?.get('BYMONTH'))
  const isYearly = rule?.get('FREQ') === 'YEARLY' && (rule.has('BYDAY') || rule.has('BYMONTHDAY'))
  if (!isYearly || rule.has('COUNT') || (rule.get('INTERVAL') ?? '1') !== '1') return Number.NaN
  const end = Math.min(local, untilOf(rule))
  // A part begins at the time of day of its start.
  const time = ((start % DAY_MS) + DAY_MS) % DAY_MS
  const newest = new Date(end).getUTCFullYear()
  for (const year of [newest, newest - 1])
    for (let day = 31; day > 0; day--) {
      // The 31st of a shorter month is of the next one, which the rule does not take in.
      const at = Date.UTC(year, month - 1, day) + time
      if (at > end || !takesIn(rule, at)) continue
      return Math.max(at, start)
    }
  return Number.NaN
}

/** The end of a rule, with a day for the offset that it is written without; infinity where it has none. */
function untilOf(rule: Rule): number {
  const text = rule.get('UNTIL')
  if (text === undefined) return Number.POSITIVE_INFINITY
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)(?:T\d{6}Z?)?$/.exec(text) ?? []
  return Date.parse(`${year}-${month}-${day}`) + 2 * DAY_MS
}
