/** Times of events: an instant, a time in a zone, a time without a zone, or a day; and the one text in which facts and claims say them. */
import type { Property } from './line.ts'
import type { Zone, ZoneOf } from './zone.ts'

/** The time of a clock or calendar as `local`: the milliseconds since the epoch if it were UTC. */
export type Moment =
  | { readonly kind: 'utc' | 'floating' | 'date'; readonly local: number }
  | { readonly kind: 'zoned'; readonly local: number; readonly zone: Zone }

const FORM = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/

/** Reads the times of a property, undefined for each that cannot be read for certain. */
export function readMoments({ params, value = '' }: Property, zoneOf: ZoneOf): readonly (Moment | undefined)[] {
  const [tzid, ...others] = params.filter(([name]) => name === 'TZID').map(([, zone]) => zone)
  return value.split(',').map((text) => (others.length > 0 ? undefined : readMoment(text, tzid, zoneOf)))
}

/** Reads DATE and DATE-TIME of iCalendar; undefined for another text, or an unknown zone. */
function readMoment(text: string, tzid: string | undefined, zoneOf: ZoneOf): Moment | undefined {
  const [whole, year, month, day, hour, minute, second, utc] = FORM.exec(text) ?? []
  if (whole === undefined) return undefined
  const time = hour === undefined ? '' : `T${hour}:${minute}:${second}Z`
  const local = Date.parse(`${year}-${month}-${day}${time}`)
  // Date.parse takes the 31st of a shorter month for a day of the next one.
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(day)) return undefined
  if (hour === undefined) return { kind: 'date', local }
  if (utc === 'Z') return { kind: 'utc', local }
  if (tzid === undefined) return { kind: 'floating', local }
  const zone = zoneOf(tzid)
  return zone && { kind: 'zoned', local, zone }
}

/** The text of a fact: UTC with milliseconds, a day, or a time without a zone; undefined for what is not known. */
export function textOf(moment: Moment | undefined): string | undefined {
  if (!moment) return undefined
  const at = moment.kind === 'zoned' ? moment.zone.instantOf(moment.local) : moment.local
  if (Number.isNaN(at)) return undefined
  const text = new Date(at).toISOString()
  return { utc: text, zoned: text, floating: text.slice(0, 19), date: text.slice(0, 10) }[moment.kind]
}
