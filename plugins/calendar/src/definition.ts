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

const MOST_OBSERVANCES = 100
const DAY_MS = 24 * 3_600_000
/** Days in which a yearly rule has a time. */
const YEAR_DAYS = 367

export function offsetsOf(observances: readonly Observance[]): OffsetOf {
  const [first, ...others] = observances
  // Without another offset it does not matter when one begins.
  if (others.every(({ offset }) => offset === first?.offset)) return () => first?.offset
  if (observances.length > MOST_OBSERVANCES) return () => undefined
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

function lastOfRule(rule: Rule | undefined, start: number, local: number): number {
  const isYearly =
    rule?.get('FREQ') === 'YEARLY' && rule.has('BYMONTH') && (rule.has('BYDAY') || rule.has('BYMONTHDAY'))
  if (!rule || !isYearly || rule.has('COUNT') || (rule.get('INTERVAL') ?? '1') !== '1') return Number.NaN
  // Days are counted back from the last on which the part can have begun, at the time of day of its start.
  const end = Math.min(local, untilOf(rule))
  const newest = end - ((((end - start) % DAY_MS) + DAY_MS) % DAY_MS)
  for (let day = 0; day < YEAR_DAYS; day++) {
    const at = newest - day * DAY_MS
    if (at < start) return start
    if (takesIn(rule, at)) return at
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
