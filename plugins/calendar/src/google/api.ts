/** Reads events at Google's Calendar API. */
import { type Auth, type CheckContext, DestinationError, isOldCopy, type Static, Type } from '@claimcheck/core/plugin'

export const CALENDAR_API = 'https://www.googleapis.com/calendar/v3'

const Text = Type.Optional(Type.String())
const Time = Type.Optional(
  Type.Object({
    date: Type.Optional(Type.String({ format: 'date' })),
    dateTime: Type.Optional(Type.String({ format: 'date-time' })),
    timeZone: Text,
  }),
)
/** An event. One that was deleted has its id alone for certain. */
const Event = Type.Object({
  id: Type.String(),
  status: Type.Optional(Type.String()),
  iCalUID: Text,
  created: Text,
  updated: Text,
  sequence: Type.Optional(Type.Integer()),
  start: Time,
  end: Time,
  endTimeUnspecified: Type.Optional(Type.Boolean()),
  recurrence: Type.Optional(Type.Array(Type.String())),
  recurringEventId: Text,
  originalStartTime: Time,
  organizer: Type.Optional(Type.Object({ self: Type.Optional(Type.Boolean()) })),
})
const Events = Type.Object({
  kind: Type.Literal('calendar#events'),
  accessRole: Type.String(),
  nextPageToken: Text,
  items: Type.Array(Event),
})

export type Event = Static<typeof Event>

/** Roles that see events; `freeBusyReader` sees times alone. */
const READERS: readonly string[] = ['reader', 'writer', 'owner']
/** Pages of a list: a series may have hundreds of changed events. */
const MOST_PAGES = 10
/** Seconds for which a cache may have kept an answer. */
const MOST_AGE_S = 60

export function openGoogle(auth: Auth, { http }: Pick<CheckContext, 'http'>) {
  function requireNew(headers: Headers): void {
    if (isOldCopy(headers, MOST_AGE_S)) throw new DestinationError('unexpected_response')
  }

  /** Lists events. @throws DestinationError `forbidden` for a role that does not see them */
  async function list(calendar: string, query: Readonly<Record<string, string>>, most: number) {
    const url = `${CALENDAR_API}/calendars/${encodeURIComponent(calendar)}/events`
    const addressOf = (more: Readonly<Record<string, string>> = {}) =>
      `${url}?${new URLSearchParams({ ...query, ...more })}`
    const events: Event[] = []
    let role = ''
    let headers = new Headers()
    const pages = http.paginate(addressOf(), {
      schema: Events,
      auth,
      most,
      next: ({ value: { nextPageToken } }) => nextPageToken && addressOf({ pageToken: nextPageToken }),
    })
    for await (const page of pages) {
      requireNew(page.headers)
      role = page.value.accessRole
      if (!READERS.includes(role)) throw new DestinationError('forbidden')
      headers = page.headers
      events.push(...page.value.items)
      if (query.maxResults === '1') break
    }
    return { role, events, headers }
  }

  return {
    /** Finds an event; undefined where the calendar has none of this id. A 404 may hide the calendar itself. */
    async event(calendar: string, id: string) {
      const url = `${CALENDAR_API}/calendars/${encodeURIComponent(calendar)}/events/${id}`
      const { value, headers, status } = await http.json(url, { schema: Event, auth, also: [404, 410] })
      requireNew(headers)
      if (value && value.id !== id) throw new DestinationError('unexpected_response')
      return { event: value, headers, isGone: status === 410 }
    },
    /** Lists the events of a UID: the event itself, changed occurrences of a series, and deleted ones as long as they are kept. */
    events: (calendar: string, iCalUID: string) =>
      list(calendar, { iCalUID, showDeleted: 'true', maxResults: '250' }, MOST_PAGES),
    /** Tells whether the calendar has an invitation of a UID that it does not show. */
    async hasHidden(calendar: string, iCalUID: string): Promise<boolean> {
      const { events } = await list(calendar, { iCalUID, showHiddenInvitations: 'true', maxResults: '250' }, MOST_PAGES)
      return events.length > 0
    },
    /** Requires that the events of a calendar can be read. */
    calendar: (calendar: string) => list(calendar, { maxResults: '1' }, 1),
  }
}
