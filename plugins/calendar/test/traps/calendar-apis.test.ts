/** The stand-ins themselves: they answer as published, and their calendars take no step that a calendar does not know. */
import t from 'tap'
import { startServer } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import { AT, CALENDAR, ELSEWHEN, ID, importedIdOf, OTHER_CALENDAR, UID } from './agenda.ts'
import { CALDAV_FALSE } from './caldav-false.ts'
import { CALDAV_HIDDEN } from './caldav-hidden.ts'
import { CALDAV_HONEST } from './caldav-honest.ts'
import { CALDAV_MOMENTS } from './caldav-moments.ts'
import { calendarAt } from './caldav-server.ts'
import { CALDAV_TIMES } from './caldav-times.ts'
import { CALENDAR_READONLY, CLIENT, REFRESH_TOKEN } from './google-api.ts'
import { GOOGLE_FALSE } from './google-false.ts'
import { GOOGLE_HIDDEN } from './google-hidden.ts'
import { GOOGLE_HONEST } from './google-honest.ts'
import { GOOGLE_MOMENTS } from './google-moments.ts'
import { folded, UID as OBJECT_UID, objectOf, unfolded } from './icalendar.ts'
import {
  agenda,
  DAY,
  diaryAt,
  HOUR,
  NAME,
  PLAN,
  type Provider,
  type Row,
  type Scene,
  setOf,
  WORK,
  written,
} from './row.ts'
import { allOf, parseXml } from './xml.ts'

const CALDAV = [...CALDAV_HONEST, ...CALDAV_MOMENTS, ...CALDAV_TIMES, ...CALDAV_FALSE, ...CALDAV_HIDDEN]
const GOOGLE = [...GOOGLE_HONEST, ...GOOGLE_MOMENTS, ...GOOGLE_FALSE, ...GOOGLE_HIDDEN]
const ROWS: readonly Row[] = [...CALDAV, ...GOOGLE]

interface Asked {
  readonly method?: string
  readonly path: string
  readonly body?: string
  readonly depth?: string
}

/** Starts the destination of a scene. */
async function open(provider: Provider, scene: Omit<Scene, 'params'>, now = START) {
  const { answer, options } = setOf(provider, { ...scene, params: {} })
  const server = await startServer({ answer, now: () => now })
  let authorization = `Basic ${Buffer.from(`${options.username}:${options.password}`).toString('base64')}`
  if (provider === 'google_calendar') {
    const form = { grant_type: 'refresh_token', ...CLIENT, refresh_token: REFRESH_TOKEN }
    const told = await fetch(`${server.url}/token`, { method: 'POST', body: new URLSearchParams(form) })
    authorization = `Bearer ${((await told.json()) as { access_token: string }).access_token}`
  }
  return {
    ...server,
    async ask({ method = 'GET', path, body, depth }: Asked) {
      const headers = { authorization, ...(depth !== undefined && { depth }) }
      const response = await fetch(`${server.url}${path}`, { method, headers, ...(body !== undefined && { body }) })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
  }
}

const queryOf = (match: string) =>
  `<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><d:getetag/><d:getlastmodified/><c:calendar-data/></d:prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:prop-filter name="UID">${match}</c:prop-filter></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`

t.test('CalDAV servers', async (t) => {
  for (const kind of ['radicale', 'sabre', 'apple'] as const) {
    const path = `${calendarAt(kind)}/`
    const content = objectOf({ lines: ['DESCRIPTION:a]]>b & <c>'] })
    const server = await open('caldav', { caldav: { kind, diary: written(content, { kind }) } })
    for (const [match, count] of [
      [`<c:text-match>${OBJECT_UID}</c:text-match>`, 1],
      [`<c:text-match>${OBJECT_UID.toUpperCase()}</c:text-match>`, 1],
      [`<c:text-match collation="i;octet">${OBJECT_UID.toUpperCase()}</c:text-match>`, kind === 'radicale' ? 1 : 0],
      ['<c:text-match>nothing</c:text-match>', 0],
    ] as const) {
      const { status, text } = await server.ask({ method: 'REPORT', path, depth: '1', body: queryOf(match) })
      t.equal(status, 207)
      const found = allOf(parseXml(text), 'calendar-data')
      t.equal(found.length, count, `${kind}: ${match}`)
      if (count)
        t.equal(found[0]!.text.replaceAll('\r', ''), content.replaceAll('\r', ''), 'the content comes through whole')
    }
    const { headers } = await server.ask({ path: `${path}${NAME}` })
    t.equal(headers.get('last-modified'), new Date(START).toUTCString())
    const body = '<propfind xmlns="DAV:"><prop><resourcetype/><owner/><quota-used-bytes/></prop></propfind>'
    const props = parseXml((await server.ask({ method: 'PROPFIND', path, depth: '1', body })).text)
    t.equal(allOf(props, 'response').length, 2, 'the calendar and its object')
    t.equal(allOf(props, 'calendar').length, 1)
    t.ok(
      allOf(props, 'status').some(({ text }) => text === 'HTTP/1.1 404 Not Found'),
      'a property that is not known',
    )
    t.equal((await server.ask({ path: `${path}none.ics` })).status, 404)
    t.strictSame(server.faults, [])
    await server.close()
  }
})

t.test('a query without a depth finds nothing at sabre/dav', async (t) => {
  const server = await open('caldav', { caldav: { kind: 'sabre', diary: written(objectOf(), { kind: 'sabre' }) } })
  const { text } = await server.ask({ method: 'REPORT', path: `${calendarAt('sabre')}/`, body: queryOf('') })
  t.equal(allOf(parseXml(text), 'response').length, 0)
  t.equal(server.faults.length, 1)
  await server.close()
})

const EVENTS = `/calendar/v3/calendars/${encodeURIComponent(CALENDAR)}/events`
const valueAt = (text: string, at: string): unknown =>
  at.split('.').reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)?.[name], JSON.parse(text))

t.test('Google', async (t) => {
  const uid = encodeURIComponent(UID)
  const events = () =>
    agenda()
      .insert(-DAY, { id: 'series', ...ELSEWHEN, recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] })
      .insert(-HOUR)
      .insert(-HOUR, { id: 'gone' })
      .cancel(-1000, 'gone')
      .insert(-500, { id: 'away' })
      .move(-400, CALENDAR, OTHER_CALENDAR, 'away')
  const roles = { [CALENDAR]: 'owner' } as const
  for (const [title, path, more, status, at, value] of [
    ['an event', `${EVENTS}/${ID}`, {}, 200, 'start.dateTime', AT.start.dateTime],
    ['its time of making', `${EVENTS}/${ID}`, {}, 200, 'created', new Date(START - HOUR).toISOString()],
    ['a deleted one', `${EVENTS}/gone`, {}, 200, 'status', 'cancelled'],
    ['one that was moved away', `${EVENTS}/away`, {}, 200, 'iCalUID', undefined],
    ['none', `${EVENTS}/none`, {}, 404, 'error.errors.0.reason', 'notFound'],
    ['an instance', `${EVENTS}/series_20260318T090000Z`, {}, 200, 'recurringEventId', 'series'],
    ['by its UID', `${EVENTS}?iCalUID=${uid}`, {}, 200, 'items.0.id', ID],
    ['deleted ones are left out', `${EVENTS}?iCalUID=gone%40google.com`, {}, 200, 'items.length', 0],
    ['deleted ones', `${EVENTS}?iCalUID=gone%40google.com&showDeleted=true`, {}, 200, 'items.length', 1],
    ['the role', `${EVENTS}?maxResults=1`, {}, 200, 'accessRole', 'owner'],
    ['a page', `${EVENTS}?maxResults=1`, {}, 200, 'nextPageToken', 'page-1'],
    ['an empty page', EVENTS, { emptyPages: 1 }, 200, 'items.length', 0],
    ['to who sees busy times', EVENTS, { roles: { [CALENDAR]: 'freeBusyReader' } }, 200, 'items.length', 0],
    ['a hidden calendar', EVENTS, { roles: {} }, 404, 'error.code', 404],
    [
      'a calendar by the scope of events',
      `/calendars/${CALENDAR}`,
      {},
      403,
      'error.errors.0.reason',
      'insufficientPermissions',
    ],
    ['a calendar', `/calendars/${CALENDAR}`, { scopes: [CALENDAR_READONLY] }, 200, 'id', CALENDAR],
    ['its entry', `/users/me/calendarList/${CALENDAR}`, { scopes: [CALENDAR_READONLY] }, 200, 'accessRole', 'owner'],
  ] as const) {
    const server = await open('google_calendar', {
      google: { agenda: events(), roles, ...more } as NonNullable<Scene['google']>,
    })
    const answer = await server.ask({ path })
    t.equal(answer.status, status, title)
    t.equal(valueAt(answer.text, at), value, `${title}: ${at}`)
    t.strictSame(server.faults, [], `${title}: as published`)
    await server.close()
  }
  t.equal(importedIdOf('ab'), '_c5h0', 'an id of an import is base32hex')
})

t.test('steps that there are not', async (t) => {
  t.throws(() => written().remove(1, PLAN, NAME), 'what is not there is not removed')
  t.throws(() => written().put(-1, WORK, NAME, ''), 'nothing happens before what happened')
  t.throws(() => diaryAt().make(0, WORK), 'a calendar is made once')
  t.throws(() => agenda().insert(0).cancel(1).insert(2), 'a deleted event keeps its id')
  t.throws(() => agenda().insert(0).cancel(1).patch(2, ELSEWHEN), 'a deleted event is not changed')
  t.strictSame(unfolded(folded(`UID:${'é'.repeat(100)}`).join('\r\n')), [`UID:${'é'.repeat(100)}`])
})

t.test('the rows', async (t) => {
  const names = ROWS.map(({ provider, title }) => `${provider}: ${title}`)
  t.strictSame(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
    'each has a name of its own',
  )
  const honest = ROWS.filter(({ right }) => right === 'verified' || right === 'late').length
  t.ok(honest * 3 >= ROWS.length, `${honest} of ${ROWS.length} are honest claims that are told`)
  for (const { provider, truth, scene: make } of ROWS) {
    const scene = make()
    t.ok(setOf(provider, scene).target, `${provider} ${truth}`)
    scene.caldav?.diary.at(START + DAY)
    scene.google?.agenda.at(START + DAY)
  }
  const counts = new Map<string, number>()
  for (const { provider, truth, right } of ROWS)
    for (const name of [`${provider} ${truth}`, `${provider} right is ${right}`])
      counts.set(name, (counts.get(name) ?? 0) + 1)
  t.comment(
    [...counts]
      .toSorted()
      .map(([name, count]) => `${name}: ${count}`)
      .join('; '),
  )
})
