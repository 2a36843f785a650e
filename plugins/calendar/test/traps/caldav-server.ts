/**
 * CalDAV servers (RFC 4791) over a scripted diary: Radicale as Debian has it, sabre/dav as Nextcloud runs it, and Apple's, with their filters, shares
 * and forms of XML.
 */
import { createHash } from 'node:crypto'
import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import type { Collection, Diary, Item } from './diary.ts'
import { componentsOf } from './icalendar.ts'
import {
  CALDAV,
  CALENDARSERVER,
  cal,
  dav,
  type Form,
  hrefs,
  multistatus,
  type Node,
  statusLine,
} from './multistatus.ts'
import { allOf, childOf, escaped, parseXml, type XmlElement } from './xml.ts'

export const HOST = 'dav.example.com'
export const OWNER = 'ann'
export const PASSWORD = 'sesame-4711-opens'
export const AUDITOR = 'auditor'
export const AUDITOR_PASSWORD = 'auditor-0815-reads'

export type Kind = Form
/** The path that holds the calendars of the owner. */
export const HOMES: Readonly<Record<Kind, string>> = {
  radicale: `/${OWNER}`,
  sabre: `/remote.php/dav/calendars/${OWNER}`,
  apple: '/17112341234/calendars',
}

export function calendarAt(kind: Kind, name = 'work'): string {
  return `${HOMES[kind]}/${name}`
}

export interface CaldavServer {
  readonly diary: Diary
  readonly kind: Kind
  /** Calendars of the owner that the auditor may read, and how. Radicale's administrator, and sabre/dav's owner, say so. */
  readonly shares?: Readonly<Record<string, 'read' | 'write' | 'free-busy'>>
  /**
   * The answer to a filter by UID: substrings in any case, as RFC 4791 has it without a collation; nothing, as servers without this filter; all, as
   * servers that skip it; or a refusal.
   */
  readonly uidFilter?: 'substring' | 'nothing' | 'all' | 'refused'
  /** Keeps private events of a shared calendar from others, and shows of confidential ones the times alone. */
  readonly hidesPrivate?: boolean
  /** Answers at most so many objects to a report. */
  readonly mostItems?: number
  /** Leaves out properties that servers need not have, such as `owner`. */
  readonly lacks?: readonly string[]
}

class CaldavError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** The place that a request reads: a collection, or one of its objects. */
interface Place {
  readonly path: string
  readonly collection: Collection | undefined
  readonly item: Item | undefined
  readonly user: string
}

export function createCaldav(server: CaldavServer): (asked: Asked, faults: string[]) => Answer {
  return (asked, faults) => {
    try {
      return answerOf(server, asked, faults)
    } catch (error) {
      if (error instanceof CaldavError) return errorAnswer(server, error)
      throw error
    }
  }
}

function answerOf(server: CaldavServer, asked: Asked, faults: string[]): Answer {
  const user = userOf(asked)
  const place = placeAt(server, asked, user)
  const { collection, item } = place
  if (!collection && !isHome(server, place.path))
    throw new CaldavError(404, 'The requested resource could not be found.')
  switch (asked.method) {
    case 'GET':
    case 'HEAD':
      return getAnswer(server, place, asked.method === 'HEAD')
    case 'PROPFIND':
      return propfindAnswer(server, asked, place, faults)
    case 'REPORT':
      if (item) return server.kind === 'radicale' ? reportAnswer(server, asked, place, faults) : refuseReport()
      return reportAnswer(server, asked, place, faults)
    default:
      faults.push(`${asked.method} ${asked.path}: reads are GET, HEAD, PROPFIND and REPORT`)
      throw new CaldavError(405, 'Method not allowed')
  }
}

function refuseReport(): never {
  throw new CaldavError(403, 'The report is not supported on this resource')
}

function userOf({ headers }: Asked): string {
  const [, encoded = ''] = /^Basic (.*)$/i.exec(headers.authorization ?? '') ?? []
  const given = Buffer.from(encoded, 'base64').toString('utf8')
  if (given === `${OWNER}:${PASSWORD}`) return OWNER
  if (given === `${AUDITOR}:${AUDITOR_PASSWORD}`) return AUDITOR
  throw new CaldavError(401, 'Access to the requested resource forbidden.', {
    'www-authenticate': 'Basic realm="Radicale - Password Required"',
  })
}

function isHome({ kind }: CaldavServer, path: string): boolean {
  return path === HOMES[kind]
}

function placeAt(server: CaldavServer, { path: sent, shown }: Asked, user: string): Place {
  const path = decodeURIComponent(sent).replace(/\/+$/, '')
  const collections = server.diary.at(shown)
  const cut = path.lastIndexOf('/')
  const [parent, name] = [path.slice(0, cut), path.slice(cut + 1)]
  const isItem = !collections.has(path) && collections.has(parent)
  const at = isItem ? parent : path
  if (user !== OWNER && !server.shares?.[at]) {
    // Nextcloud does not show what is not shared; Radicale refuses a path by its owner, before it looks.
    throw server.kind === 'sabre' ? new CaldavError(404, 'Not found') : new CaldavError(403, 'Forbidden.')
  }
  const collection = collections.get(at)
  const item = isItem ? itemsOf(server, { collection, at, user }).find((one) => one.name === name) : undefined
  if (isItem && !item) throw new CaldavError(404, 'The requested resource could not be found.')
  return { path: at, collection, item, user }
}

/** Lists the objects that a user sees, as the user sees them. */
function itemsOf(
  { shares, hidesPrivate }: CaldavServer,
  { collection, at, user }: { readonly collection: Collection | undefined; readonly at: string; readonly user: string },
): readonly Item[] {
  const items = [...(collection?.items.values() ?? [])]
  if (user === OWNER) return items
  if (shares?.[at] === 'free-busy') throw new CaldavError(403, 'Forbidden.')
  if (!hidesPrivate) return items
  return items.flatMap((item) => {
    const [{ className = 'PUBLIC' } = {}] = componentsOf(item.content)
    if (className === 'PRIVATE') return []
    return className === 'CONFIDENTIAL' ? [{ ...item, content: busyOf(item.content) }] : [item]
  })
}

/** The copy of a confidential event that others get: its times, and nothing of what it is about. */
function busyOf(content: string): string {
  const kept = /^(?:BEGIN|END|VERSION|PRODID|UID|DTSTAMP|DTSTART|DTEND|DURATION|RRULE|RECURRENCE-ID|CLASS)[;:]/
  const lines = content.split('\r\n').filter((line) => kept.test(line))
  return `${lines.flatMap((line) => (line === 'END:VEVENT' ? ['SUMMARY:Busy', line] : [line])).join('\r\n')}\r\n`
}

function getAnswer({ kind }: CaldavServer, { collection, item, path }: Place, isHead: boolean): Answer {
  if (!item) {
    // Radicale gives a whole calendar as one file; others have nothing to give.
    if (kind !== 'radicale') throw new CaldavError(501, 'GET is only implemented for File objects, got CalendarHome')
    if (!collection) return { status: 302, body: '', headers: { location: '/.web' } }
    const bodies = [...collection.items.values()].map(({ content }) =>
      content.replace(/^[\s\S]*?(?=BEGIN:V(?:EVENT|TODO|TIMEZONE))/, '').replace(/END:VCALENDAR\r\n$/, ''),
    )
    const whole = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//PYVOBJECT//NONSGML Version 1//EN\r\n${bodies.join('')}END:VCALENDAR\r\n`
    return { status: 200, body: isHead ? '' : whole, headers: { 'content-type': 'text/calendar; charset=utf-8' } }
  }
  const headers = {
    'content-type':
      kind === 'radicale' ? 'text/calendar; charset=utf-8' : 'text/calendar; charset=utf-8; component=vevent',
    'last-modified': new Date(item.modifiedAt).toUTCString(),
    etag: etagOf(path, item),
  }
  return { status: 200, body: isHead ? '' : item.content, headers }
}

function propfindAnswer(server: CaldavServer, asked: Asked, place: Place, faults: string[]): Answer {
  const { collection, item, path, user } = place
  const { depth = 'infinity' } = asked.headers
  if (depth === 'infinity') {
    faults.push('a PROPFIND without a depth asks for everything below')
    if (server.kind !== 'radicale') throw new CaldavError(403, 'Depth infinity is not allowed')
  }
  const names = namesIn(asked.body ? documentOf(asked.body) : undefined)
  const own = item ? itemProps(server, place, item) : collectionProps(server, place)
  const first = responseOf(server, item ? `${path}/${item.name}` : `${path}/`, own, names)
  if (depth === '0' || item) return multistatus(server.kind, [first])
  const below = collection
    ? itemsOf(server, { collection, at: path, user }).map((one) =>
        responseOf(server, `${path}/${one.name}`, itemProps(server, place, one), names),
      )
    : [...server.diary.at(asked.shown)]
        .filter(([at]) => at.startsWith(`${path}/`))
        .map(([at, one]) =>
          responseOf(server, `${at}/`, collectionProps(server, { ...place, path: at, collection: one }), names),
        )
  return multistatus(server.kind, [first, ...below])
}

function reportAnswer(server: CaldavServer, asked: Asked, place: Place, faults: string[]): Answer {
  const { collection, path, user, item } = place
  const request = documentOf(asked.body)
  const { namespace, name } = request
  if (namespace === CALDAV && name === 'free-busy-query') throw new CaldavError(403, 'The report is not supported')
  if (namespace !== CALDAV || !['calendar-query', 'calendar-multiget'].includes(name)) {
    if (name !== 'sync-collection') faults.push(`the stand-in has no report ${name}`)
    throw new CaldavError(server.kind === 'radicale' ? 403 : 415, 'supported-report')
  }
  const names = namesIn(request)
  const respond = (one: Item) =>
    responseOf(server, `${path}/${one.name}`, itemProps(server, place, one, { isReport: true }), names)
  if (name === 'calendar-multiget') {
    const known = itemsOf(server, { collection, at: path, user })
    const answers = allOf(request, 'href').map(({ text }) => {
      const named = decodeURIComponent(new URL(text.trim(), 'https://dav.example.com').pathname)
      const found = known.find((one) => `${path}/${one.name}` === named)
      return found
        ? respond(found)
        : dav('response', [...hrefs(encodedPath(server, named)), dav('status', statusLine(404))])
    })
    return multistatus(server.kind, answers)
  }
  // RFC 4791 7.8: without a depth a query is about the collection itself, which no filter matches. Radicale looks into it all the same.
  const { depth = '0' } = asked.headers
  if (depth === '0') faults.push('a query without a depth of 1 is about the collection alone')
  if (!collection || (depth === '0' && server.kind !== 'radicale')) return multistatus(server.kind, [])
  const filter = filterIn(server, request, faults)
  const asks = filter.uid
  const { uidFilter = 'substring' } = server
  if (asks && uidFilter === 'refused')
    throw new CaldavError(server.kind === 'radicale' ? 400 : 403, 'CALDAV:supported-filter')
  const items = item ? [item] : itemsOf(server, { collection, at: path, user })
  const matching = items.filter(({ content }) => {
    const components = componentsOf(content).filter(({ name: kind }) => !filter.component || kind === filter.component)
    if (components.length === 0) return false
    if (!asks || uidFilter === 'all') return true
    return uidFilter === 'substring' && components.some(({ uid }) => asks(uid))
  })
  const { mostItems = matching.length } = server
  const cut = matching.slice(0, mostItems).map(respond)
  // RFC 5323 has the form, and RFC 4791 7.8 the condition: the collection itself answers 507 where there is more.
  const over = dav('response', [...hrefs(encodedPath(server, `${path}/`)), dav('status', statusLine(507))])
  return multistatus(server.kind, matching.length > mostItems ? [...cut, over] : cut)
}

/** Reads the filter of a query: the component, and the match of the UID. */
function filterIn({ kind }: CaldavServer, request: XmlElement, faults: string[]) {
  const filter = childOf(request, 'filter')
  const component = childOf(childOf(filter, 'comp-filter'), 'comp-filter')
  const uid = component?.children.find(({ name, attributes }) => name === 'prop-filter' && attributes.name === 'UID')
  const match = childOf(uid, 'text-match')
  const others = filter ? [...allOf(filter, 'time-range'), ...allOf(filter, 'param-filter')] : []
  if (others.length > 0) faults.push('the stand-in filters by component and UID alone')
  if (!match) return { component: component?.attributes.name }
  // Radicale knows no collation: it ignores case always.
  const isOctet = match.attributes.collation === 'i;octet' && kind !== 'radicale'
  const cased = (text: string) => (isOctet ? text : text.toLowerCase())
  const isNegated = match.attributes['negate-condition'] === 'yes'
  return {
    component: component?.attributes.name,
    uid: (value: string) => cased(value).includes(cased(match.text)) !== isNegated,
  }
}

function namesIn(request: XmlElement | undefined): readonly XmlElement[] {
  return childOf(request, 'prop')?.children ?? []
}

function documentOf(body: string): XmlElement {
  try {
    return parseXml(body)
  } catch {
    throw new CaldavError(400, 'Bad Request')
  }
}

function collectionProps(server: CaldavServer, place: Place): readonly Node[] {
  const { kind, lacks = [] } = server
  const { collection, path } = place
  const types = {
    calendar: cal('calendar'),
    addressbook: { namespace: 'urn:ietf:params:xml:ns:carddav', name: 'addressbook' },
    trash: { namespace: 'http://nextcloud.com/ns', name: 'trash-bin' },
  }
  const type = types[collection?.kind ?? 'calendar']
  const isCalendar = collection?.kind === 'calendar'
  const tag = createHash('sha256')
    .update([...(collection?.items.values() ?? [])].map((item) => etagOf(path, item)).join())
    .digest('hex')
  const newest = Math.max(
    collection?.madeAt ?? 0,
    ...[...(collection?.items.values() ?? [])].map((item) => item.modifiedAt),
  )
  const all = [
    dav('resourcetype', collection ? [type, dav('collection')] : [dav('principal'), dav('collection')]),
    ...accessProps(server, place),
    ...(collection
      ? [
          dav('displayname', path.slice(1)),
          dav('sync-token', `http://radicale.org/ns/sync/${tag}`),
          dav('getetag', `"${tag}"`),
        ]
      : []),
    ...(collection && kind === 'radicale'
      ? [dav('getlastmodified', new Date(Number.isFinite(newest) ? newest : 0).toUTCString())]
      : []),
    ...(isCalendar
      ? [
          { namespace: CALENDARSERVER, name: 'getctag', content: `"${tag}"` },
          cal('supported-calendar-component-set', []),
          dav(
            'supported-report-set',
            ['calendar-multiget', 'calendar-query'].map((name) =>
              dav('supported-report', [dav('report', [cal(name)])]),
            ),
          ),
        ]
      : []),
  ]
  return all.filter(({ name }) => !lacks.includes(name))
}

const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  owner: ['read', 'all', 'write', 'write-properties', 'write-content'],
  read: ['read'],
  write: ['read', 'write', 'write-properties', 'write-content'],
}

/** The properties that say whose a resource is, who asks, and what that user may do there (RFC 3744). */
function accessProps({ kind, shares = {} }: CaldavServer, { path, user }: Place): readonly Node[] {
  const granted = RIGHTS[user === OWNER ? 'owner' : (shares[path] ?? '')] ?? []
  return [
    dav('owner', hrefs(principalOf(kind, OWNER))),
    dav('current-user-principal', hrefs(principalOf(kind, user))),
    dav(
      'current-user-privilege-set',
      granted.map((name) => dav('privilege', [dav(name)])),
    ),
  ]
}

function principalOf(kind: Kind, user: string): string {
  const principals = {
    radicale: `/${user}/`,
    sabre: `/remote.php/dav/principals/users/${user}/`,
    apple: `/17112341234/principal/`,
  }
  return kind === 'apple' && user !== OWNER ? '/90218887654/principal/' : principals[kind]
}

function itemProps(server: CaldavServer, place: Place, item: Item, { isReport = false } = {}): readonly Node[] {
  const { kind, lacks = [] } = server
  const { path } = place
  const all = [
    dav('getetag', etagOf(path, item)),
    dav('getcontenttype', 'text/calendar;charset=utf-8;component=VEVENT'),
    ...(isReport ? [cal('calendar-data', item.content)] : [dav('resourcetype', [])]),
    // Radicale tells the time of an object to PROPFIND and GET, and not in a report.
    ...(isReport && kind === 'radicale' ? [] : [dav('getlastmodified', new Date(item.modifiedAt).toUTCString())]),
    ...(isReport ? [] : accessProps(server, place)),
  ]
  return all.filter(({ name }) => !lacks.includes(name))
}

function etagOf(path: string, { name, content, modifiedAt }: Item): string {
  return `"${createHash('sha256').update([path, name, content, modifiedAt].join('\n')).digest('hex')}"`
}

function responseOf(server: CaldavServer, path: string, props: readonly Node[], names: readonly XmlElement[]): Node {
  const wanted = names.length > 0 ? names : props.filter(({ name }) => name !== 'calendar-data')
  const pairs = wanted.map(({ namespace, name }) => ({
    namespace,
    name,
    found: props.find((one) => one.name === name && one.namespace === namespace),
  }))
  const there = pairs.flatMap(({ found }) => (found ? [found] : []))
  const missing = pairs.flatMap(({ namespace, name, found }) => (found ? [] : [{ namespace, name }]))
  const stat = (nodes: readonly Node[], status: number) =>
    nodes.length > 0 ? [dav('propstat', [dav('prop', nodes), dav('status', statusLine(status))])] : []
  return dav('response', [...hrefs(encodedPath(server, path)), ...stat(there, 200), ...stat(missing, 404)])
}

/** Writes a path as the server does: Radicale leaves `@` and `:`, sabre/dav escapes them with small letters. */
function encodedPath({ kind }: CaldavServer, path: string): string {
  const strict = (segment: string) =>
    encodeURIComponent(segment)
      .replace(/[!'*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
      .replace(/%[0-9A-F]{2}/g, (code) => (kind === 'sabre' ? code.toLowerCase() : code))
  const loose = (segment: string) => strict(segment).replace(/%40/g, '@').replace(/%3A/g, ':')
  return path
    .split('/')
    .map(kind === 'sabre' ? strict : loose)
    .join('/')
}

function errorAnswer({ kind }: CaldavServer, { status, message, headers }: CaldavError): Answer {
  if (kind !== 'sabre')
    return { status, body: message, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } }
  const names = { 401: 'NotAuthenticated', 403: 'Forbidden', 404: 'NotFound', 501: 'NotImplemented' }
  const exception = names[status as keyof typeof names] ?? 'BadRequest'
  const body = `<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:exception>Sabre\\DAV\\Exception\\${exception}</s:exception><s:message>${escaped(message)}</s:message></d:error>`
  return { status, body, headers: { 'content-type': 'application/xml; charset=utf-8', ...headers } }
}
