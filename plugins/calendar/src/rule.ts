/** Reads recurrence rules (RFC 5545 3.3.10), as far as they tell for certain whether a time is one of them. */

/** The parts of a rule by their names in capitals. */
export type Rule = ReadonlyMap<string, string>

/** Reads a rule; undefined for one that has a part twice, which programs read differently. */
export function readRule(value: string): Rule | undefined {
  const parts = value.split(';').map((part) => {
    const at = part.indexOf('=')
    return [part.slice(0, at).toUpperCase(), part.slice(at + 1).toUpperCase()] as const
  })
  const rule = new Map(parts)
  return rule.size === parts.length ? rule : undefined
}

/**
 * Tells whether the BY parts of a rule take in a time. Programs differ in what they make of a series whose first time is not of its own rule.
 * @param local the time of a clock, as milliseconds since the epoch if it were UTC
 */
export function takesIn(rule: Rule, local: number): boolean {
  const at = new Date(local)
  return [...rule].every(([name, list]) => {
    if (!name.startsWith('BY')) return true
    const test = TESTS[name]
    return test !== undefined && list.split(',').some((one) => test(one, at, rule))
  })
}

/** The tests of parts that need the time alone. BYSETPOS, BYWEEKNO and BYYEARDAY leave open what a rule takes in. */
const TESTS: Readonly<Record<string, (one: string, at: Date, rule: Rule) => boolean>> = {
  BYMONTH: (one, at) => Number(one) === at.getUTCMonth() + 1,
  BYMONTHDAY: (one, at) => Number(one) === at.getUTCDate() || Number(one) === at.getUTCDate() - daysIn(at) - 1,
  BYDAY: isDay,
  BYHOUR: (one, at) => Number(one) === at.getUTCHours(),
  BYMINUTE: (one, at) => Number(one) === at.getUTCMinutes(),
  BYSECOND: (one, at) => Number(one) === at.getUTCSeconds(),
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** Tells whether a time is of a weekday, `TU`, or of one of its month, `1TU` or `-1TU`. */
function isDay(one: string, at: Date, rule: Rule): boolean {
  const [, count, weekday] = /^([+-]?[1-5])?([A-Z]{2})$/.exec(one) ?? []
  if (weekday !== WEEKDAYS[at.getUTCDay()]) return false
  if (count === undefined) return true
  const isOfMonth = rule.get('FREQ') === 'MONTHLY' || (rule.get('FREQ') === 'YEARLY' && rule.has('BYMONTH'))
  const day = at.getUTCDate()
  return isOfMonth && [Math.ceil(day / 7), -Math.ceil((daysIn(at) - day + 1) / 7)].includes(Number(count))
}

function daysIn(at: Date): number {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
}
