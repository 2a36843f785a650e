/** Reads events of iCalendar (RFC 5545): lines that are folded, components, times in zones, and durations. */
import { type Observance, offsetsOf } from './definition.ts'
import { type Property, parseLine, unfold } from './line.ts'
import { type Moment, readMoments, textOf } from './moment.ts'
import { hasFirst } from './series.ts'
import { findZone, type Zone, type ZoneOf } from './zone.ts'

interface Component {
  readonly name: string
  readonly properties: Property[]
  readonly children: Component[]
}

export interface ICalendarEvent {
  readonly uid: string
  /** The start and end in the form of facts; undefined where they cannot be told for certain, as of a series without its first event. */
  readonly starts: string | undefined
  readonly ends: string | undefined
  readonly status: string
  readonly isRecurring: boolean
  /** Tells whether it replaces one occurrence of a series. Its own times are not read. */
  readonly isInstance: boolean
}

/** Reads the UIDs of the events of a calendar object, which is none for a text that is no whole iCalendar. */
export function uidsIn(text: string): readonly string[] {
  return calendarsIn(text)?.flatMap(eventsOf).map(uidOf) ?? []
}

/** Reads the events of a UID in a calendar object; undefined for a text that is no whole iCalendar, or can be read in two ways. */
export function readEvents(text: string, uid: string): readonly ICalendarEvent[] | undefined {
  const calendars = calendarsIn(text)
  if (!calendars) return undefined
  const found = calendars.map((calendar) => ({
    events: eventsOf(calendar).filter((event) => uidOf(event) === uid),
    zoneOf: zonesIn(calendar),
  }))
  if (!found.every(({ events }) => events.every(isClear))) return undefined
  return found.flatMap(({ events, zoneOf }) => {
    const replaced = events.flatMap((event) => momentsOf(event, 'RECURRENCE-ID', zoneOf))
    return events.map((event) => readEvent(event, replaced, zoneOf))
  })
}

function eventsOf({ children }: Component): readonly Component[] {
  return children.filter(({ name }) => name === 'VEVENT')
}

function uidOf(event: Component): string {
  return unescapeText(valueIn(event, 'UID') ?? '')
}

/** Properties of an event that it has once at most (RFC 5545 3.6.1), those that say whether there is a series, and its exceptions. */
const SINGLE: readonly string[] = ['UID', 'DTSTART', 'DTEND', 'DURATION', 'STATUS', 'RECURRENCE-ID']
const SERIES: readonly string[] = ['RRULE', 'RDATE']
const RECURRENCE: readonly string[] = [...SERIES, 'EXDATE', 'EXRULE']

/** Tells whether calendars can read an event in one way alone. */
function isClear({ properties }: Component): boolean {
  const read = properties.filter(({ name }) => SINGLE.includes(name) || RECURRENCE.includes(name))
  const single = read.map(({ name }) => name).filter((name) => SINGLE.includes(name))
  return new Set(single).size === single.length && read.every(({ value }) => value !== undefined)
}

function readEvent(event: Component, replaced: readonly (Moment | undefined)[], zoneOf: ZoneOf): ICalendarEvent {
  const isInstance = propertyOf(event, 'RECURRENCE-ID') !== undefined
  const recurrence = event.properties.filter(({ name }) => RECURRENCE.includes(name))
  const start = momentOf(event, 'DTSTART', zoneOf)
  const isSingle = recurrence.length === 0 && replaced.length === 0
  const hasTimes = !isInstance && (isSingle || hasFirst(start, recurrence, replaced, zoneOf))
  return {
    uid: uidOf(event),
    starts: hasTimes ? textOf(start) : undefined,
    ends: hasTimes ? textOf(endOf(event, start, zoneOf)) : undefined,
    status: (valueIn(event, 'STATUS') || 'CONFIRMED').toLowerCase(),
    isRecurring: isInstance || recurrence.some(({ name }) => SERIES.includes(name)),
    isInstance,
  }
}

/** The end of an event; undefined for one that has two. */
function endOf(event: Component, start: Moment | undefined, zoneOf: ZoneOf): Moment | undefined {
  const duration = valueIn(event, 'DURATION')
  if (!propertyOf(event, 'DTEND')) return start && endAfter(start, duration)
  return duration === undefined ? momentOf(event, 'DTEND', zoneOf) : undefined
}

function momentOf(event: Component, name: string, zoneOf: ZoneOf): Moment | undefined {
  const [moment, ...others] = momentsOf(event, name, zoneOf)
  return others.length === 0 ? moment : undefined
}

/** The times of a property; none where the event does not have it. */
function momentsOf(event: Component, name: string, zoneOf: ZoneOf): readonly (Moment | undefined)[] {
  const property = propertyOf(event, name)
  return property ? readMoments(property, zoneOf) : []
}

const DURATION = /^\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/

const DAY_MS = 24 * 3_600_000

/** The end of an event without DTEND: after its duration, after the day for a date, at its start for a time (RFC 5545 3.6.1). */
function endAfter(start: Moment, duration: string | undefined): Moment | undefined {
  if (duration === undefined) return start.kind === 'date' ? { ...start, local: start.local + DAY_MS } : start
  const parts = DURATION.exec(duration)
  if (!parts) return undefined
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

const MOST_ZONES = 64

/** Finds the zones of an object, each once, beside its own definitions of them. */
function zonesIn({ children }: Component): ZoneOf {
  const definitions = children.filter(({ name }) => name === 'VTIMEZONE')
  const zones = new Map<string, Zone | undefined>()
  return (tzid) => {
    if (!zones.has(tzid) && zones.size < MOST_ZONES) {
      const own = definitions.filter((one) => valueIn(one, 'TZID') === tzid)
      zones.set(
        tzid,
        findZone(
          tzid,
          own.map(({ children }) => offsetsOf(children.map(observanceOf))),
        ),
      )
    }
    return zones.get(tzid)
  }
}

/** Reads a part of a zone's definition, whose times are those of clocks without a zone. */
function observanceOf(part: Component): Observance {
  const timesOf = (name: string) =>
    part.properties
      .filter((property) => property.name === name)
      .flatMap((property) => readMoments(property, () => undefined))
      .map((moment) => (moment?.kind === 'floating' ? moment.local : undefined))
  const [start, ...others] = timesOf('DTSTART')
  return {
    offset: offsetIn(part),
    start: others.length === 0 ? start : undefined,
    dates: timesOf('RDATE'),
    rules: part.properties.filter(({ name }) => name === 'RRULE').map(({ value = '' }) => value),
  }
}

/** The offset that begins with a part of a zone's definition, in milliseconds. */
function offsetIn(part: Component): number | undefined {
  const [, sign, hours, minutes, seconds = '0'] =
    /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(valueIn(part, 'TZOFFSETTO') ?? '') ?? []
  if (sign === undefined) return undefined
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -size : size
}

function propertyOf({ properties }: Component, name: string): Property | undefined {
  return properties.find((property) => property.name === name)
}

function valueIn(component: Component, name: string): string | undefined {
  return propertyOf(component, name)?.value
}

const MOST_LEVELS = 8

/** Reads the calendars of a text; undefined if its components do not end as they begin. */
function calendarsIn(text: string): readonly Component[] | undefined {
  const root: Component = { name: '', properties: [], children: [] }
  const open = [root]
  const lines = unfold(text).split(/\r?\n/)
  const isWhole = lines.every((line) => {
    const property = parseLine(line)
    return property === undefined || takeProperty(property, open)
  })
  const isCalendar = isWhole && open.length === 1 && root.children.length > 0
  return isCalendar ? root.children.filter(({ name }) => name === 'VCALENDAR') : undefined
}

/** Takes the next property. @param open the components that have not ended, the innermost last @returns false if it ends another one */
function takeProperty(property: Property, open: Component[]): boolean {
  const inner = open.at(-1)!
  const name = property.value?.toUpperCase() ?? ''
  if (property.name === 'END') return open.length > 1 && open.pop()!.name === name
  if (property.name !== 'BEGIN') {
    inner.properties.push(property)
    return true
  }
  const component = { name, properties: [], children: [] }
  inner.children.push(component)
  return open.push(component) <= MOST_LEVELS
}

function unescapeText(text: string): string {
  return text.replace(/\\([\\;,Nn])/g, (_, letter: string) => (letter.toLowerCase() === 'n' ? '\n' : letter))
}
