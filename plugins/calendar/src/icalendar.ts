/** Reads events of iCalendar (RFC 5545): lines that are folded, components, times in zones, and durations. */
import { type Moment, readMoment, textOf } from './moment.ts'
import { findZone, type Zone } from './zone.ts'

interface Property {
  readonly name: string
  readonly params: ReadonlyMap<string, string>
  readonly value: string
}

interface Component {
  readonly name: string
  readonly properties: Property[]
  readonly children: Component[]
}

export interface ICalendarEvent {
  readonly uid: string
  /** The start and end in the form of facts; undefined where the zone is not known for certain, or they cannot be read. */
  readonly starts: string | undefined
  readonly ends: string | undefined
  readonly status: string
  readonly isRecurring: boolean
  /** Tells whether it replaces one occurrence of a series. */
  readonly isInstance: boolean
}

/** Reads the events of a calendar object; undefined for a text that is no whole iCalendar. */
export function readEvents(text: string): readonly ICalendarEvent[] | undefined {
  const root = parseComponents(text)
  if (!root) return undefined
  const calendars = root.children.filter(({ name }) => name === 'VCALENDAR')
  return calendars.flatMap((calendar) => {
    const zoneOf = (tzid: string) => findZone(tzid, offsetsIn(calendar, tzid))
    return calendar.children.filter(({ name }) => name === 'VEVENT').map((event) => eventOf(event, zoneOf))
  })
}

function eventOf(event: Component, zoneOf: (tzid: string) => Zone | undefined): ICalendarEvent {
  const valueIn = (name: string) => propertyOf(event, name)?.value.trim()
  const momentOf = (name: string) => {
    const property = propertyOf(event, name)
    return property && readMoment(property.value.trim(), property.params.get('TZID'), zoneOf)
  }
  const start = momentOf('DTSTART')
  const isInstance = propertyOf(event, 'RECURRENCE-ID') !== undefined
  return {
    uid: unescapeText(valueIn('UID') ?? ''),
    starts: textOf(start),
    ends: textOf(propertyOf(event, 'DTEND') ? momentOf('DTEND') : endOf(start, valueIn('DURATION'))),
    status: (valueIn('STATUS') || 'CONFIRMED').toLowerCase(),
    isRecurring: isInstance || ['RRULE', 'RDATE'].some((name) => propertyOf(event, name)),
    isInstance,
  }
}

const DURATION = /^\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/

const DAY_MS = 24 * 3_600_000

/** The end of an event without DTEND: after its duration, after the day for a date, at its start for a time (RFC 5545 3.6.1). */
function endOf(start: Moment | undefined, duration: string | undefined): Moment | undefined {
  if (duration === undefined) return start?.kind === 'date' ? { ...start, local: start.local + DAY_MS } : start
  const parts = DURATION.exec(duration)
  if (!start || !parts) return undefined
  const [weeks, days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ]
  // Days and weeks are of the calendar, whatever the clocks do in them; hours and less are exact.
  const dayLater: Moment = { ...start, local: start.local + (7 * weeks + days) * DAY_MS }
  const exactMs = ((hours * 60 + minutes) * 60 + seconds) * 1000
  if (exactMs === 0) return dayLater
  if (dayLater.kind !== 'zoned')
    return dayLater.kind === 'date' ? undefined : { ...dayLater, local: dayLater.local + exactMs }
  return { kind: 'utc', local: dayLater.zone.instantOf(dayLater.local) + exactMs }
}

/** The offsets that the object's own definition of a zone has, in milliseconds; undefined if it defines no such zone. */
function offsetsIn({ children }: Component, tzid: string): readonly number[] | undefined {
  const zone = children.find((one) => one.name === 'VTIMEZONE' && propertyOf(one, 'TZID')?.value.trim() === tzid)
  return zone?.children.flatMap((part) => {
    const [, sign, hours, minutes, seconds = '0'] =
      /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(propertyOf(part, 'TZOFFSETTO')?.value.trim() ?? '') ?? []
    if (sign === undefined) return []
    const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return [sign === '-' ? -size : size]
  })
}

function propertyOf({ properties }: Component, name: string): Property | undefined {
  return properties.find((property) => property.name === name)
}

const MOST_LEVELS = 8

/** Reads the components of a text, below one without a name; undefined if they do not end as they begin. */
function parseComponents(text: string): Component | undefined {
  const root: Component = { name: '', properties: [], children: [] }
  const open = [root]
  const lines = text.replace(/\r?\n[ \t]/g, '').split(/\r?\n/)
  const isWhole = lines.every((line) => {
    const property = parseLine(line)
    return property === undefined || takeProperty(property, open)
  })
  return isWhole && open.length === 1 && root.children.length > 0 ? root : undefined
}

/** Takes the next property. @param open the components that have not ended, the innermost last @returns false if it ends another one */
function takeProperty(property: Property, open: Component[]): boolean {
  const inner = open.at(-1)!
  const name = property.value.trim().toUpperCase()
  if (property.name === 'END') return open.length > 1 && open.pop()!.name === name
  if (property.name !== 'BEGIN') {
    inner.properties.push(property)
    return true
  }
  const component = { name, properties: [], children: [] }
  inner.children.push(component)
  return open.push(component) <= MOST_LEVELS
}

/** Reads a line, `NAME;PARAM=value;OTHER="a:b":value`; undefined for another one. */
function parseLine(line: string): Property | undefined {
  const parts: string[] = []
  let isQuoted = false
  let from = 0
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]!
    if (letter === '"') isQuoted = !isQuoted
    if (isQuoted || (letter !== ';' && letter !== ':')) continue
    parts.push(line.slice(from, at))
    from = at + 1
    if (letter === ';') continue
    const [name = '', ...params] = parts
    return { name: name.toUpperCase(), params: new Map(params.map(readParam)), value: line.slice(from) }
  }
  return undefined
}

function readParam(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at).toUpperCase(), text.slice(at + 1).replace(/^"(.*)"$/, '$1')]
}

function unescapeText(text: string): string {
  return text.replace(/\\([\\;,Nn])/g, (_, letter: string) => (letter.toLowerCase() === 'n' ? '\n' : letter))
}
