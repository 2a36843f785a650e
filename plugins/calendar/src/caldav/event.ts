/** Finds an event in a calendar at a CalDAV server. */
import { type CheckCache, DestinationError } from '@claimcheck/core/plugin'
import type { CalendarEvent, FindEvents } from '../event.ts'
import { readEvents, uidsIn } from '../icalendar.ts'
import { unfold } from '../line.ts'
import { isUid } from '../profile.ts'
import { placeOf } from '../target.ts'
import { type Caldav, openCaldav, type Properties } from './api.ts'
import type { Options } from './connection.ts'

const STATES: readonly string[] = ['confirmed', 'tentative', 'cancelled']

export const findAtCaldav: FindEvents = async ({ target, params: { uid } }, context) => {
  const place = placeOf(target)
  if (place.kind !== 'caldav') throw new DestinationError('unsupported_target')
  const caldav = openCaldav(context.connection!.options as Options, context)
  const objects = await findObjects(caldav, place.path, uid!, context)
  const events = eventsIn(objects, uid!)
  const key = `calendar ${place.path}`
  if (events.length === 0 || context.cache.get(key) === undefined) {
    const properties = await caldav.properties(`${place.path}/`)
    requireCalendar(properties)
    if (events.length === 0) requireOwn(properties)
    context.cache.set(key, true)
  }
  return { events }
}

/**
 * Finds the objects of a calendar with a UID, and perhaps others. Some servers know no search by UID, and answer it with an empty list: one that
 * finds nothing counts only at a server whose search was seen to find an event; else all events are read.
 */
async function findObjects(
  caldav: Caldav,
  path: string,
  uid: string,
  { cache }: { readonly cache: CheckCache },
): Promise<readonly string[]> {
  const key = `search in ${path}`
  const known = cache.get(key)
  if (known !== 'broken') {
    const found = await caldav.search(path, uid)
    if (found && (known === 'works' || hasEvent(found, uid))) return found
  }
  const all = await caldav.all(path)
  if (known === undefined) {
    const some = uidIn(all)
    if (some !== undefined) cache.set(key, hasEvent((await caldav.search(path, some)) ?? [], some) ? 'works' : 'broken')
  }
  return all
}

function hasEvent(objects: readonly string[], uid: string): boolean {
  return objects.some((data) => uidsIn(data).includes(uid))
}

/** The UID of any of the events. */
function uidIn(objects: readonly string[]): string | undefined {
  for (const data of objects) {
    const uid = uidsIn(data).find(isUid)
    if (uid !== undefined) return uid
  }
  return undefined
}

/** @throws DestinationError `unexpected_response` for an object that names the UID and cannot be read */
function eventsIn(objects: readonly string[], uid: string): readonly CalendarEvent[] {
  return objects
    .filter((data) => unfold(data).includes(uid))
    .flatMap((data) => {
      const events = readEvents(data, uid)
      if (!events?.every(({ status }) => STATES.includes(status))) throw new DestinationError('unexpected_response')
      return events
    })
}

/** Requires a calendar: inboxes and trash bins find events, too. @throws DestinationError `unsupported_target` */
function requireCalendar({ isCalendar }: Properties): void {
  if (!isCalendar) throw new DestinationError('unsupported_target')
}

/** Requires that a calendar is of these credentials. @throws DestinationError `forbidden` for another's, in which servers hide private events */
function requireOwn({ user, owner }: Properties): void {
  if (user === undefined || user !== owner) throw new DestinationError('forbidden')
}
