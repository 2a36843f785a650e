// Test run: slow
/** The CalDAV stand-in is held against a real Radicale: both answer the same requests alike, after the same deeds. */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startServer } from '../../../../test/traps/scripted-server.ts'
import { AUDITOR, AUDITOR_PASSWORD, createCaldav, OWNER, PASSWORD } from './caldav-server.ts'
import { Diary } from './diary.ts'
import { calendarOf, componentsOf, eventOf, OTHER_TIMES, OTHER_UID, objectOf, UID } from './icalendar.ts'
import { radicaleProblem, startRadicale } from './radicale.ts'
import { NAME, PLAN, WORK } from './row.ts'
import { allOf, childOf, parseXml, type XmlElement } from './xml.ts'

const problem = radicaleProblem()
const skip = problem === undefined ? {} : { skip: problem }
const SHARED = `[shared]\nuser: ${AUDITOR}\ncollection: ann/work\npermissions: r\n`
const series = calendarOf(
  eventOf({ uid: 'series-7', lines: ['RRULE:FREQ=WEEKLY;COUNT=6'] }),
  eventOf({ uid: 'series-7', times: OTHER_TIMES, lines: ['RECURRENCE-ID:20260323T140000Z'] }),
)

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly depth?: string
  readonly user?: 'owner' | 'auditor' | 'stranger' | 'nobody'
}

const USERS = {
  owner: `${OWNER}:${PASSWORD}`,
  auditor: `${AUDITOR}:${AUDITOR_PASSWORD}`,
  stranger: `${OWNER}:wrong`,
  nobody: undefined,
}

function send(base: string, { method, path, body, depth, user = 'owner' }: Request) {
  const login = USERS[user]
  const headers = {
    ...(login !== undefined && { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
    ...(depth !== undefined && { depth }),
  }
  return fetch(`${base}${path}`, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) })
}

/** Does the same deeds at Radicale and in a diary. */
async function written(base: string): Promise<Diary> {
  const start = Date.now()
  const diary = new Diary(start)
  async function deed(request: Request & { readonly to?: string }, status: number) {
    const { to, path, method, body } = request
    const headers = {
      authorization: `Basic ${Buffer.from(USERS.owner).toString('base64')}`,
      ...(to && { destination: base + to }),
    }
    const response = await fetch(`${base}${path}`, { method, headers, ...(body !== undefined && { body }) })
    if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return Date.now() - start
  }
  for (const path of [WORK, PLAN]) diary.make(await deed({ method: 'MKCALENDAR', path: `${path}/` }, 201), path)
  const put = async (path: string, name: string, content: string) =>
    diary.put(
      await deed({ method: 'PUT', path: `${path}/${encodeURIComponent(name)}`, body: content }, 201),
      path,
      name,
      content,
    )
  await put(WORK, NAME, objectOf())
  await put(WORK, 'other one.ics', objectOf({ uid: OTHER_UID }))
  await put(WORK, 'series.ics', series)
  await put(WORK, 'todo.ics', objectOf({ name: 'VTODO', uid: 'todo-7', times: ['DTSTART:20260316T140000Z'] }))
  await put(PLAN, 'moving.ics', objectOf({ uid: 'moved-7' }))
  await sleep(2100)
  diary.move(
    await deed({ method: 'MOVE', path: `${PLAN}/moving.ics`, to: `${WORK}/moved.ics` }, 201),
    [PLAN, 'moving.ics'],
    [WORK, 'moved.ics'],
  )
  await put(WORK, 'gone.ics', objectOf({ uid: 'gone-7' }))
  diary.remove(await deed({ method: 'DELETE', path: `${WORK}/gone.ics` }, 200), WORK, 'gone.ics')
  return diary
}

const PROPS = [
  'resourcetype',
  'getetag',
  'getlastmodified',
  'owner',
  'current-user-principal',
  'displayname',
  'creationdate',
]
const props = (names: readonly string[]) => names.map((name) => `<d:${name}/>`).join('')
const NAMESPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
const propfind = `<d:propfind ${NAMESPACES}><d:prop>${props(PROPS)}<d:current-user-privilege-set/></d:prop></d:propfind>`
function query(match: string, component = 'VEVENT') {
  const filter = `<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="${component}"><c:prop-filter name="UID">${match}</c:prop-filter></c:comp-filter></c:comp-filter></c:filter>`
  return `<c:calendar-query ${NAMESPACES}><d:prop>${props(['getetag', 'getlastmodified', 'getcontenttype'])}<c:calendar-data/></d:prop>${filter}</c:calendar-query>`
}
const multiget = `<c:calendar-multiget ${NAMESPACES}><d:prop><d:getetag/><c:calendar-data/></d:prop><d:href>${WORK}/${NAME}</d:href><d:href>${WORK}/none.ics</d:href></c:calendar-multiget>`
const match = (uid: string, attributes = '') => query(`<c:text-match${attributes}>${uid}</c:text-match>`)

const REQUESTS: readonly (readonly [title: string, request: Request])[] = [
  ['an object', { method: 'GET', path: `${WORK}/${NAME}` }],
  ['the head of an object', { method: 'HEAD', path: `${WORK}/${NAME}` }],
  ['an object that was moved', { method: 'HEAD', path: `${WORK}/moved.ics` }],
  ['where it was', { method: 'GET', path: `${PLAN}/moving.ics` }],
  ['an object that was removed', { method: 'GET', path: `${WORK}/gone.ics` }],
  ['no object', { method: 'GET', path: `${WORK}/none.ics` }],
  ['no calendar', { method: 'PROPFIND', path: '/ann/none/', depth: '0', body: propfind }],
  ['a calendar', { method: 'PROPFIND', path: `${WORK}/`, depth: '0', body: propfind }],
  ['a calendar without a slash', { method: 'PROPFIND', path: WORK, depth: '0', body: propfind }],
  ['a calendar and its objects', { method: 'PROPFIND', path: `${WORK}/`, depth: '1', body: propfind }],
  ['the home', { method: 'PROPFIND', path: '/ann/', depth: '1', body: propfind }],
  ['an object\u2019s properties', { method: 'PROPFIND', path: `${WORK}/${NAME}`, depth: '0', body: propfind }],
  ['a UID', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID) }],
  ['a part of a UID', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID.slice(3, 20)) }],
  ['a UID in another case', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID.toUpperCase()) }],
  [
    'a UID in another case, octet by octet',
    { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID.toUpperCase(), ' collation="i;octet"') },
  ],
  ['all but a UID', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID, ' negate-condition="yes"') }],
  ['a UID that is not there', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match('nothing') }],
  ['the UID of a series', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match('series-7') }],
  ['the UID of a task', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match('todo-7') }],
  [
    'a task',
    { method: 'REPORT', path: `${WORK}/`, depth: '1', body: query('<c:text-match>todo</c:text-match>', 'VTODO') },
  ],
  ['a UID without a depth', { method: 'REPORT', path: `${WORK}/`, body: match(UID) }],
  ['a UID in the home', { method: 'REPORT', path: '/ann/', depth: '1', body: match(UID) }],
  ['a UID in an empty calendar', { method: 'REPORT', path: `${PLAN}/`, depth: '1', body: match(UID) }],
  ['a UID in no calendar', { method: 'REPORT', path: '/ann/none/', depth: '1', body: match(UID) }],
  ['two objects by their names', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: multiget }],
  ['a UID in an object', { method: 'REPORT', path: `${WORK}/${NAME}`, depth: '1', body: match(UID) }],
  ['no XML', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: 'not <xml' }],
  ['a calendar, shared', { method: 'PROPFIND', path: `${WORK}/`, depth: '0', body: propfind, user: 'auditor' }],
  ['a UID, shared', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID), user: 'auditor' }],
  ['an object, shared', { method: 'GET', path: `${WORK}/${NAME}`, user: 'auditor' }],
  [
    'a calendar that is not shared',
    { method: 'PROPFIND', path: `${PLAN}/`, depth: '0', body: propfind, user: 'auditor' },
  ],
  [
    'a UID in one that is not shared',
    { method: 'REPORT', path: `${PLAN}/`, depth: '1', body: match(UID), user: 'auditor' },
  ],
  ['what is not there, of somebody else', { method: 'GET', path: '/ann/none/x.ics', user: 'auditor' }],
  ['a wrong password', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID), user: 'stranger' }],
  ['no password', { method: 'REPORT', path: `${WORK}/`, depth: '1', body: match(UID), user: 'nobody' }],
]

t.test('both answer alike', skip, async (t) => {
  const radicale = await startRadicale(SHARED)
  t.teardown(() => radicale.stop())
  const diary = await written(radicale.url)
  const answer = createCaldav({ diary, kind: 'radicale', shares: { [WORK]: 'read' } })
  const standIn = await startServer({ answer, now: Date.now })
  t.teardown(() => standIn.close())
  for (const [title, request] of REQUESTS) {
    const [real, own] = await Promise.all([radicale, standIn].map(async ({ url }) => toldBy(await send(url, request))))
    t.strictSame(own, real, title)
  }
  await t.test('a move keeps the time of the last modification', async (t: Test) => {
    const moved = await send(radicale.url, { method: 'HEAD', path: `${WORK}/moved.ics` })
    const modifiedAt = Date.parse(moved.headers.get('last-modified') ?? '')
    const movedAfterMs = Date.parse(moved.headers.get('date') ?? '') - modifiedAt
    t.ok(movedAfterMs >= 2000, `it was moved here at least 2 s after ${new Date(modifiedAt).toISOString()}`)
  })
})

/** The content of an answer, without times, tags and the order of properties. */
async function toldBy(response: Response) {
  const type = response.headers.get('content-type')?.split(';')[0]
  const text = await response.text()
  const isMultistatus = response.status === 207
  return {
    status: response.status,
    type: response.status < 300 ? type : undefined,
    hasTime: response.headers.has('last-modified'),
    hasTag: response.headers.has('etag'),
    asks: response.headers.has('www-authenticate'),
    responses: isMultistatus ? responsesIn(parseXml(text)) : undefined,
    components:
      response.status === 200 && text ? componentsOf(text).map(({ name, uid }) => `${name} ${uid}`) : undefined,
  }
}

function responsesIn(multistatus: XmlElement) {
  return allOf(multistatus, 'response')
    .map((response) => ({
      href: childOf(response, 'href')?.text,
      status: childOf(response, 'status')?.text,
      props: response.children
        .filter(({ name }) => name === 'propstat')
        .flatMap((propstat) =>
          (childOf(propstat, 'prop')?.children ?? []).map(
            (prop) => `${childOf(propstat, 'status')?.text} ${shownOf(prop)}`,
          ),
        )
        .toSorted(),
    }))
    .toSorted((one, other) => (one.href! < other.href! ? -1 : 1))
}

/** Shows a property: its name with what it holds, where that is the same at every server. */
function shownOf({ namespace, name, children, text }: XmlElement): string {
  if (name === 'calendar-data') return `${name} ${componentsOf(text).map(({ name, uid }) => `${name} ${uid}`)}`
  const varies = ['getetag', 'getlastmodified', 'displayname', 'getcontenttype'].includes(name)
  const within = children.map(shownOf).toSorted()
  return `${namespace}${name}(${[...within, ...(varies ? [] : [text])].join()})`
}
