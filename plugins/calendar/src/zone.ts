/** Time zones by their IANA names, with the rules that this machine knows. */
import type { OffsetOf } from './definition.ts'

export interface Zone {
  /** The instant at which the clocks of the zone show a time; not a number where the object's own definition says otherwise than this machine. */
  instantOf(local: number): number
  /** The time that the clocks of the zone show at an instant. */
  localOf(at: number): number
}

/** Finds a zone by a TZID; undefined for one that is not known. */
export type ZoneOf = (tzid: string) => Zone | undefined

const LONGEST_TZID = 255

/**
 * Finds a zone by a TZID: the name itself, or the name at the end of a longer one, such as `/mozilla.org/20070129_1/Europe/Berlin`.
 * @param definitions each VTIMEZONE that the object has for it; one that has another offset at a time defines another zone of this name
 * @returns undefined for a name that IANA does not have
 */
export function findZone(tzid: string, definitions: readonly OffsetOf[]): Zone | undefined {
  if (tzid.length > LONGEST_TZID) return undefined
  const parts = tzid.split('/').filter((part) => part !== '')
  const isPlain = !tzid.startsWith('/')
  const names = parts.flatMap((_, index) => {
    const isWhole = index === 0 && isPlain
    return isWhole || parts.length - index > 1 ? [parts.slice(index).join('/')] : []
  })
  const format = names.map(formatOf).find((one) => one !== undefined)
  if (!format) return undefined
  const offsetAt = (at: number) => localOf(format, at) - Math.floor(at / 1000) * 1000
  return {
    instantOf(local) {
      const at = local - offsetOf(local, offsetAt)
      return definitions.every((own) => own(local) === offsetAt(at)) ? at : Number.NaN
    },
    localOf: (at) => at + offsetAt(at),
  }
}

const DAY_MS = 24 * 3_600_000

/** The offset that counts for a time: the first of two, if the clocks show it twice; that of before, if they leave it out (RFC 5545 3.3.5). */
function offsetOf(local: number, offsetAt: (at: number) => number): number {
  const before = offsetAt(local - DAY_MS)
  const after = offsetAt(local + DAY_MS)
  if (offsetAt(local - before) === before) return before
  return offsetAt(local - after) === after ? after : before
}

/** IANA's names of three letters. Node also takes ICU's own, by which BST is Bangladesh's time, and IST India's. */
const THREE_LETTERS: readonly string[] = ['CET', 'EET', 'EST', 'GMT', 'HST', 'MET', 'MST', 'UCT', 'UTC', 'WET']

function formatOf(name: string): Intl.DateTimeFormat | undefined {
  // A name that begins with a sign is an offset, which some versions of Node take and others do not.
  if (!/^[A-Za-z]/.test(name)) return undefined
  if (name.length === 3 && !THREE_LETTERS.includes(name.toUpperCase())) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}

function localOf(format: Intl.DateTimeFormat, at: number): number {
  const shown = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(shown.year!, shown.month! - 1, shown.day, shown.hour, shown.minute, shown.second)
}
