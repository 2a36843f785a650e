/** Google's Calendar API (version 3) over a scripted agenda: scopes and roles, cancelled events, pages, and the tokens of a refresh token. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { type Agenda, CREATOR, type GoogleEvent } from './agenda.ts'
import { ATTENDEE, SUMMARY } from './icalendar.ts'
import { faultsOf } from './published.ts'

export const READONLY = 'https://www.googleapis.com/auth/calendar.events.readonly'
export const CALENDAR_READONLY = 'https://www.googleapis.com/auth/calendar.readonly'
export const REFRESH_TOKEN = '1//0g-refresh-4711-abcdefghijkl'
export const CLIENT = {
  client_id: '4711-agents.apps.googleusercontent.com',
  client_secret: 'GOCSPX-secret-of-the-client',
}
const ACCESS_TOKEN = 'ya29.a0-access-token-4711'
const USER = CREATOR

export type Role = 'owner' | 'writer' | 'reader' | 'freeBusyReader'

export interface Google {
  readonly agenda: Agenda
  /** The user's roles, by calendar. Others are hidden as if they were not there. */
  readonly roles: Readonly<Record<string, Role>>
  readonly scopes?: readonly string[]
  /** Events on a page at most, however many are asked for. */
  readonly pageSize?: number
  /** Pages without an event that come before those with one. */
  readonly emptyPages?: number
  /** Lists fall behind the events themselves by so much. */
  readonly listLagMs?: number
  readonly timeZone?: string
}

class GoogleError extends Error {
  readonly status: number
  readonly reason: string
  readonly domain: string

  constructor(status: number, reason: string, message: string, domain = 'global') {
    super(message)
    this.status = status
    this.reason = reason
    this.domain = domain
  }
}

export function createGoogle(google: Google): (asked: Asked, faults: string[]) => Answer {
  return (asked, faults) => {
    if (/\/token$/.test(asked.path)) return tokenAnswer(google, asked, faults)
    try {
      const path = asked.path.replace(/^\/calendar\/v3(?=\/)/, '').slice(1)
      return { status: 200, body: answerOf(google, asked, path.split('/').map(decodeURIComponent), faults) }
    } catch (error) {
      if (!(error instanceof GoogleError)) throw error
      return errorAnswer(error)
    }
  }
}

/** The JSON of an error, as the guide to errors lists them. */
export function errorAnswer({
  status,
  reason,
  message,
  domain,
}: Pick<GoogleError, 'status' | 'reason' | 'message' | 'domain'>): Answer {
  const place = status === 401 ? { locationType: 'header', location: 'Authorization' } : {}
  return { status, body: { error: { errors: [{ domain, reason, message, ...place }], code: status, message } } }
}

function tokenAnswer({ scopes = [READONLY] }: Google, { method, body }: Asked, faults: string[]): Answer {
  if (method !== 'POST') faults.push('tokens are asked for with POST')
  const form = new URLSearchParams(body)
  const isKnown = form.get('refresh_token') === REFRESH_TOKEN && form.get('client_id') === CLIENT.client_id
  if (form.get('grant_type') !== 'refresh_token' || !isKnown)
    return { status: 400, body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' } }
  return {
    status: 200,
    body: { access_token: ACCESS_TOKEN, expires_in: 3599, scope: scopes.join(' '), token_type: 'Bearer' },
  }
}

const LIST_PARAMETERS: ReadonlySet<string> = new Set(
  `alwaysIncludeEmail eventTypes iCalUID maxAttendees maxResults orderBy pageToken privateExtendedProperty q sharedExtendedProperty
  showDeleted showHiddenInvitations singleEvents syncToken timeMax timeMin timeZone updatedMin alt fields key prettyPrint quotaUser`.split(
    /\s+/,
  ),
)

function answerOf(google: Google, asked: Asked, path: readonly string[], faults: string[]): unknown {
  const { scopes = [READONLY], roles } = google
  if (asked.method !== 'GET') {
    faults.push(`${asked.method} ${asked.path}: reads are GET`)
    throw new GoogleError(404, 'notFound', 'Not Found')
  }
  if (asked.headers.authorization !== `Bearer ${ACCESS_TOKEN}`)
    throw new GoogleError(401, 'authError', 'Invalid Credentials')
  for (const name of asked.url.searchParams.keys())
    if (!LIST_PARAMETERS.has(name)) faults.push(`${name} is no parameter of the API`)
  const [top, id = '', part, eventId, more] = path
  const isUser = top === 'users' && id === 'me' && part === 'calendarList'
  // By the published description, events may be read with either scope, and calendars themselves only with the wider one.
  const isEvents = top === 'calendars' && part === 'events'
  if (!(isEvents ? [READONLY, CALENDAR_READONLY] : [CALENDAR_READONLY]).some((scope) => scopes.includes(scope)))
    throw new GoogleError(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.')
  const calendar = isUser ? (eventId ?? '') : id
  const role = roles[calendar]
  if (!role || (!isUser && top !== 'calendars')) throw new GoogleError(404, 'notFound', 'Not Found')
  if (isUser) return entryOf(google, calendar, role, faults)
  if (part === undefined) return calendarOf(google, calendar, faults)
  if (!isEvents) throw new GoogleError(404, 'notFound', 'Not Found')
  if (eventId === undefined) return listOf(google, asked, { calendar, role }, faults)
  if (more === 'instances') return instancesOf(google, asked, { calendar, role, eventId }, faults)
  return eventAt(google, asked, { calendar, role, eventId }, faults)
}

function calendarOf({ timeZone = 'Europe/Berlin' }: Google, id: string, faults: string[]) {
  const body = { kind: 'calendar#calendar', etag: '"p33k8x"', id, summary: 'Team', timeZone }
  faults.push(...faultsOf('google calendar', body))
  return body
}

function entryOf({ timeZone = 'Europe/Berlin' }: Google, id: string, accessRole: Role, faults: string[]) {
  const body = {
    ...{ kind: 'calendar#calendarListEntry', etag: '"p33k8y"', id, summary: 'Team', timeZone, accessRole },
    ...{ colorId: '14', selected: true, defaultReminders: [] },
  }
  faults.push(...faultsOf('google calendar list entry', body))
  return body
}

interface Access {
  readonly calendar: string
  readonly role: Role
}

function listOf(google: Google, { url, shown }: Asked, { calendar, role }: Access, faults: string[]) {
  const { agenda, pageSize = 250, emptyPages = 0, listLagMs = 0, timeZone = 'Europe/Berlin' } = google
  const query = url.searchParams
  const showDeleted = query.get('showDeleted') === 'true' || query.has('updatedMin')
  const isExpanded = query.get('singleEvents') === 'true'
  const iCalUID = query.get('iCalUID')
  for (const name of ['timeMin', 'timeMax', 'q', 'syncToken'])
    if (query.has(name)) faults.push(`the stand-in does not filter by ${name}`)
  const updatedMin = query.has('updatedMin') ? Date.parse(query.get('updatedMin')!) : Number.NEGATIVE_INFINITY
  const events =
    role === 'freeBusyReader'
      ? []
      : agenda
          .at(shown - listLagMs)
          .filter((event) => event.calendar === calendar && (iCalUID === null || event.iCalUID === iCalUID))
          .filter((event) => event.updated >= updatedMin)
          .flatMap((event) => (isExpanded && event.recurrence ? expanded(event) : [event]))
          // Cancelled exceptions of a series are listed without being asked for, unless it is expanded.
          .filter(
            ({ status, recurringEventId }) =>
              status !== 'cancelled' || showDeleted || (recurringEventId && !isExpanded),
          )
  const size = Math.min(Number(query.get('maxResults') ?? 250), pageSize, 2500)
  const [, page = '0'] = /^page-([0-9]+)$/.exec(query.get('pageToken') ?? 'page-0') ?? []
  const from = (Number(page) - emptyPages) * size
  const items = from < 0 ? [] : events.slice(from, from + size)
  const hasMore = from < 0 || from + size < events.length
  const next = hasMore
    ? { nextPageToken: `page-${Number(page) + 1}` }
    : { nextSyncToken: 'CPDAlvWDx70CEPDAlvWDx70CGAU' }
  const body = {
    ...{ kind: 'calendar#events', etag: '"p33k8z"', summary: 'Team', updated: new Date(shown).toISOString() },
    ...{ timeZone, accessRole: role, defaultReminders: [], ...next },
    items: items.map((event) => toldEvent(event, role, faults)),
  }
  faults.push(...faultsOf('google events', body))
  return body
}

function eventAt(
  { agenda }: Google,
  { shown }: Asked,
  { calendar, role, eventId }: Access & { readonly eventId: string },
  faults: string[],
) {
  const events = agenda.at(shown).filter((event) => event.calendar === calendar)
  const event = events.find(({ id }) => id === eventId) ?? instanceAt(events, eventId)
  if (!event || role === 'freeBusyReader') throw new GoogleError(404, 'notFound', 'Not Found')
  return toldEvent(event, role, faults)
}

function instancesOf(
  { agenda }: Google,
  { shown }: Asked,
  { calendar, role, eventId }: Access & { readonly eventId: string },
  faults: string[],
) {
  const events = agenda.at(shown).filter((event) => event.calendar === calendar)
  const event = events.find(({ id }) => id === eventId)
  if (!event?.recurrence) throw new GoogleError(404, 'notFound', 'Not Found')
  return {
    ...{ kind: 'calendar#events', accessRole: role, timeZone: 'Europe/Berlin', defaultReminders: [] },
    items: expanded(event).map((one) => toldEvent(one, role, faults)),
  }
}

const DAY = 86_400_000

/** The instances of a daily series, whose ids say the time at which they would begin. */
function expanded(event: GoogleEvent): readonly GoogleEvent[] {
  const count = Number(/COUNT=([0-9]+)/.exec(event.recurrence?.join(';') ?? '')?.[1] ?? 5)
  return Array.from({ length: count }, (_, index) => {
    const later = (when: GoogleEvent['start']) => ({
      ...when,
      dateTime: new Date(Date.parse(when!.dateTime!) + index * DAY).toISOString().replace('.000', ''),
    })
    const start = later(event.start)
    const { recurrence: _recurrence, ...single } = event
    return {
      ...single,
      id: `${event.id}_${start.dateTime.replace(/[-:]/g, '')}`,
      start,
      end: later(event.end),
      recurringEventId: event.id,
      originalStartTime: start,
    }
  })
}

function instanceAt(events: readonly GoogleEvent[], id: string): GoogleEvent | undefined {
  return events
    .filter(({ recurrence }) => recurrence)
    .flatMap(expanded)
    .find((one) => one.id === id)
}

function toldEvent(event: GoogleEvent, role: Role, faults: string[]) {
  const { id, iCalUID, calendar, status, created, updated, start, end, organizer, extra } = event
  const { recurrence, recurringEventId, originalStartTime } = event
  const isBare = status === 'cancelled' && (recurringEventId !== undefined || !start || role === 'reader')
  const isHidden = role === 'reader' && extra.visibility === 'private'
  const usual = {
    ...(created !== undefined && { created: typeof created === 'number' ? new Date(created).toISOString() : created }),
    updated: new Date(updated).toISOString(),
    ...(!isHidden && {
      summary: SUMMARY,
      creator: { email: USER, self: calendar === USER },
      organizer: { email: organizer, ...(organizer === calendar && { self: true }) },
      attendees: [{ email: ATTENDEE, responseStatus: 'needsAction' }],
      reminders: { useDefault: true },
    }),
    ...{ start, end, iCalUID, sequence: 0, eventType: 'default' },
    ...(recurrence && { recurrence }),
  }
  const series = { ...(recurringEventId && { recurringEventId }), ...(originalStartTime && { originalStartTime }) }
  const told = {
    ...{ kind: 'calendar#event', etag: `"${updated}000"`, id, status },
    ...(isBare ? {} : { htmlLink: 'https://www.google.com/calendar/event?eid=N2t1a3Vx', ...usual }),
    ...series,
    ...(isBare ? {} : extra),
  }
  const body = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined))
  faults.push(...faultsOf('google event', body))
  return body
}
