/** Finds an event in a calendar at Google. */
import { DestinationError } from '@claimcheck/core/plugin'
import type { CalendarEvent, EventRecord, FindEvents, Found } from '../event.ts'
import { parseLine } from '../line.ts'
import type { Moment } from '../moment.ts'
import { hasFirst } from '../series.ts'
import { placeOf } from '../target.ts'
import { findZone } from '../zone.ts'
import { type Event, openGoogle } from './api.ts'
import { authOf, type Options } from './connection.ts'

const STATES: readonly string[] = ['confirmed', 'tentative', 'cancelled']

export const findAtGoogle: FindEvents = async ({ target, params: { uid, event_id } }, context): Promise<Found> => {
  const place = placeOf(target)
  if (place.kind !== 'google') throw new DestinationError('unsupported_target')
  const google = openGoogle(authOf(context.connection!.options as Options), context)
  if (event_id === undefined) {
    const { events, headers } = await google.events(place.calendar, uid!)
    // A deleted event may show its id alone, and the list was asked for this UID.
    const own = events.filter((event) => event.iCalUID === uid && event.status !== 'cancelled')
    const found = { events: own.map((event) => eventOf(event, events)), headers }
    if (events.length > 0) return { ...found, missing: missingIn(events) }
    return { ...found, missing: (await google.hasHidden(place.calendar, uid!)) ? 'hidden' : undefined }
  }
  const { event, headers, isGone } = await google.event(place.calendar, event_id)
  if (event && event.status !== 'cancelled') {
    const isSeries = event.recurrence !== undefined && event.iCalUID !== undefined
    const { events } = isSeries ? await google.events(place.calendar, event.iCalUID!) : { events: [] }
    return { events: [eventOf(event, events)], headers }
  }
  if (!event) await google.calendar(place.calendar)
  return { events: [], missing: event || isGone ? 'deleted' : undefined, headers }
}

function missingIn(events: readonly Event[]): Found['missing'] {
  const cancelled = events.filter(({ status }) => status === 'cancelled')
  if (cancelled.some(({ recurringEventId }) => recurringEventId === undefined)) return 'deleted'
  return cancelled.length > 0 ? 'occurrence' : undefined
}

/** @param others the events of the same UID, among them changed and cancelled events of a series */
function eventOf(event: Event, others: readonly Event[]): CalendarEvent {
  const { id, status = '', iCalUID, start, end, recurrence = [], recurringEventId, organizer } = event
  if (!STATES.includes(status) || iCalUID === undefined || !start) throw new DestinationError('unexpected_response')
  // A private event hides its organizer from some.
  const isOrganizers = organizer && organizer.self === true
  const record = isOrganizers ? recordOf(event) : undefined
  const hasTimes = recurrence.length === 0 || beginsAtStart(event, others)
  return {
    uid: iCalUID,
    id,
    starts: hasTimes ? timeOf(start) : undefined,
    ends: hasTimes && !event.endTimeUnspecified ? timeOf(end) : undefined,
    status,
    isRecurring: recurrence.length > 0 || recurringEventId !== undefined,
    isInstance: recurringEventId !== undefined,
    ...(isOrganizers !== undefined && { isOrganizers }),
    ...(record && { record }),
  }
}

/** Tells whether the first event of a series takes place for certain. */
function beginsAtStart({ id, start, recurrence = [] }: Event, others: readonly Event[]): boolean {
  const changed = others.filter(({ recurringEventId }) => recurringEventId === id)
  const properties = recurrence.map((line) => parseLine(line))
  return (
    properties.every((property) => property?.value !== undefined) &&
    hasFirst(
      momentOf(start),
      properties.flatMap((property) => property ?? []),
      changed.map(({ originalStartTime }) => momentOf(originalStartTime)),
      (tzid) => findZone(tzid, []),
      localOf(start),
    )
  )
}

/** The time of the clocks in the event's own zone, which its rules are about; not a number where Google names none. */
function localOf(time: Event['start']): number {
  const { date = '', dateTime, timeZone = '' } = time ?? {}
  if (dateTime === undefined) return Date.parse(date)
  const at = Date.parse(dateTime)
  return Number.isNaN(at) ? at : (findZone(timeZone, [])?.localOf(at) ?? Number.NaN)
}

function momentOf(time: Event['start']): Moment | undefined {
  const text = timeOf(time)
  return text === undefined ? undefined : { kind: text.length === 10 ? 'date' : 'utc', local: Date.parse(text) }
}

function timeOf(time: Event['start']): string | undefined {
  if (time?.dateTime !== undefined) return new Date(time.dateTime).toISOString()
  return time?.date
}

/** Milliseconds between the two times of an event that was not changed: one has whole seconds. */
const UNCHANGED_MS = 1000

/**
 * Reads the times of an event of the calendar's own. An import brings the time at which the event was made elsewhere, and its UID; an event that was
 * made here has a UID of its id.
 */
function recordOf({ id, iCalUID, created, updated, sequence = 0, recurringEventId }: Event): EventRecord | undefined {
  const [madeAt, changedAt] = [Date.parse(created ?? ''), Date.parse(updated ?? '')]
  if (Number.isNaN(madeAt) || Number.isNaN(changedAt) || madeAt > changedAt) return undefined
  const isMadeHere = iCalUID === `${recurringEventId ?? id}@google.com`
  return {
    madeAt: isMadeHere ? madeAt : undefined,
    changedUntil: changedAt,
    wasNeverChanged: isMadeHere && sequence === 0 && changedAt - madeAt < UNCHANGED_MS,
  }
}
