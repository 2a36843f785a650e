/** Finds an event in a calendar at a CalDAV server. */
import { DestinationError } from '@claimcheck/core/plugin'
import type { CalendarEvent, FindEvents } from '../event.ts'
import { type ICalendarEvent, readEvents } from '../icalendar.ts'
import { placeOf } from '../target.ts'
import { type CalendarObject, openCaldav, type Properties } from './api.ts'
import type { Options } from './connection.ts'

const STATES: readonly string[] = ['confirmed', 'tentative', 'cancelled']

export const findAtCaldav: FindEvents = async ({ target, params: { uid } }, context) => {
  const place = placeOf(target)
  if (place.kind !== 'caldav') throw new DestinationError('unsupported_target')
  const caldav = openCaldav(context.connection!.options as Options, context)
  const objects = await caldav.events(place.path, uid!)
  const holding = objects.flatMap((object) => {
    const events = eventsIn(object).filter((event) => event.uid === uid)
    return events.length > 0 ? [{ object, events }] : []
  })
  const readCalendar = () => caldav.properties(`${place.path}/`)
  if (holding.length === 0) requireOwnCalendar(await readCalendar())
  return {
    events: holding.flatMap(({ events }) => events),
    async readUnchangedUntil() {
      const [first, ...others] = holding
      if (!first || others.length > 0) return undefined
      // An object that was moved here keeps its time at some servers; the calendar's own tells the move.
      const times = [await readCalendar(), await caldav.properties(first.object.path)].map((one) => one.changedUntil)
      return times.some((time) => time === undefined) ? undefined : Math.max(...(times as number[]))
    },
  }
}

function eventsIn({ data }: CalendarObject): readonly CalendarEvent[] {
  const events = readEvents(data)
  if (!events || events.some(({ status }) => !STATES.includes(status)))
    throw new DestinationError('unexpected_response')
  return events satisfies readonly ICalendarEvent[]
}

/**
 * Requires that a calendar hides no event from these credentials: it is a calendar, and theirs.
 * @throws DestinationError `unsupported_target`, `forbidden` for another's calendar, in which servers hide private events
 */
function requireOwnCalendar({ isCalendar, user, owner }: Properties): void {
  if (!isCalendar) throw new DestinationError('unsupported_target')
  if (user !== undefined && owner !== undefined && user !== owner) throw new DestinationError('forbidden')
}
