/** Reads calendars and their objects at a CalDAV server (RFC 4791), by the few methods that the manifest declares. */
import {
  basic,
  type CheckContext,
  type DavMethod,
  DestinationError,
  isDestinationError,
  isOldCopy,
  parseUrl,
  statusError,
} from '@claimcheck/core/plugin'
import { normalizePath } from '../target.ts'
import type { Options } from './connection.ts'
import { childOf, type Element, parseXml } from './xml.ts'

const DAV = '{DAV:}'
const CALDAV = '{urn:ietf:params:xml:ns:caldav}'
const NAMESPACES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'

const PROPERTIES = ['resourcetype', 'owner', 'current-user-principal', 'current-user-privilege-set']
const EVENTS = (filter: string) =>
  `<?xml version="1.0" encoding="utf-8"?><c:calendar-query ${NAMESPACES}><d:prop><d:getetag/><c:calendar-data/></d:prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">${filter}</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`

/** The methods of WebDAV that the plugin sends. A search looks for a part of the UID, so that it finds others, too. */
export const METHODS: readonly DavMethod[] = [
  {
    name: 'properties',
    method: 'PROPFIND',
    path: '/*',
    depth: '0',
    body: `<?xml version="1.0" encoding="utf-8"?><d:propfind ${NAMESPACES}><d:prop>${PROPERTIES.map((name) => `<d:${name}/>`).join('')}</d:prop></d:propfind>`,
  },
  {
    name: 'search',
    method: 'REPORT',
    path: '/*',
    depth: '1',
    body: EVENTS('<c:prop-filter name="UID"><c:text-match collation="i;octet">{uid}</c:text-match></c:prop-filter>'),
  },
  { name: 'all', method: 'REPORT', path: '/*', depth: '1', body: EVENTS('') },
]

/** Statuses by which servers refuse a filter that they do not know. */
const REFUSES_FILTER: readonly number[] = [400, 403, 422, 501]

/** Seconds for which a cache may have kept an answer. */
const MOST_AGE_S = 60

export interface Properties {
  readonly isCalendar: boolean
  /** The principal of these credentials, and the owner's; undefined if the server does not say. */
  readonly user: string | undefined
  readonly owner: string | undefined
  /** The names of the rights of these credentials; undefined if the server does not say. */
  readonly rights: readonly string[] | undefined
}

export type Caldav = ReturnType<typeof openCaldav>

export function openCaldav(
  { base_url, username, password }: Options,
  { fetch, now }: Pick<CheckContext, 'fetch' | 'now'>,
  auth = true,
) {
  const { origin } = parseUrl(base_url) ?? fail('misconfigured')

  /** Calls a declared method at a path. @throws DestinationError for everything but a multistatus of now */
  async function call(path: string, dav: string, parameters: Readonly<Record<string, string>> = {}) {
    const response = await fetch(origin + path, {
      call: { dav, parameters },
      ...(auth && { auth: basic(username, password) }),
    })
    if (response.status !== 207) {
      await response.body?.cancel()
      throw statusError(response, now())
    }
    if (isOldCopy(response.headers, MOST_AGE_S)) fail('unexpected_response')
    return readMultistatus(await response.text())
  }

  async function events(path: string, dav: string, parameters?: Readonly<Record<string, string>>) {
    const answers = await call(`${path}/`, dav, parameters)
    return answers.flatMap((answer) => {
      if (!isSame(answer.href, `${path}/`)) return objectIn(answer, path) ?? []
      requireShown(answer)
      return []
    })
  }

  /** Requires that an answer about a collection is no refusal. @throws DestinationError as for an answer of this status */
  function requireShown({ status = 200 }: ResourceAnswer): void {
    // A server marks a cut answer so, at the calendar itself (RFC 4791 7.8).
    if (status === 507) fail('too_large')
    if (status >= 300) throw statusError({ status, headers: NONE }, now())
  }

  return {
    /** Reads the properties of a collection, whose path ends in a slash. */
    async properties(path: string): Promise<Properties> {
      const answers = await call(path, 'properties')
      const own = answers.find(({ href }) => isSame(href, path)) ?? fail('unexpected_response')
      requireShown(own)
      return propertiesOf(own.properties)
    },
    /** Searches a calendar for objects with events of a UID; undefined where the server refuses the search. */
    async search(path: string, uid: string): Promise<readonly string[] | undefined> {
      try {
        return await events(path, 'search', { uid })
      } catch (error) {
        if (isDestinationError(error) && REFUSES_FILTER.includes(error.status!)) return undefined
        throw error
      }
    },
    /** Reads all objects with events of a calendar. */
    all: (path: string): Promise<readonly string[]> => events(path, 'all'),
  }
}

const NONE = new Headers()

/** Reads the data in an answer about an object of a calendar; undefined for one that went between the search and its reading. */
function objectIn({ href, status, properties }: ResourceAnswer, calendar: string): string | undefined {
  if (status === 507) fail('too_large')
  if (status === 401 || status === 403) fail('forbidden')
  if (status === 404 || status === 410) return undefined
  const data = properties.get(`${CALDAV}calendar-data`)?.text
  const path = normalizePath(pathOf(href))
  const isWithin = path?.slice(0, path.lastIndexOf('/')) === calendar
  return isWithin && data !== undefined ? data : fail('unexpected_response')
}

function propertiesOf(found: ReadonlyMap<string, Element>): Properties {
  const privileges = found.get(`${DAV}current-user-privilege-set`)
  const principal = (name: string) => {
    const element = found.get(DAV + name)
    const href = element && childOf(element, `${DAV}href`)?.text.trim()
    return href ? normalizePath(pathOf(href)) : undefined
  }
  return {
    isCalendar: Boolean(found.get(`${DAV}resourcetype`)?.children.some(({ name }) => name === `${CALDAV}calendar`)),
    user: principal('current-user-principal'),
    owner: principal('owner'),
    rights: privileges?.children.flatMap(({ children }) => children.map(({ name }) => name.replace(/^\{.*\}/, ''))),
  }
}

interface ResourceAnswer {
  readonly href: string
  readonly status: number | undefined
  /** The properties that the server showed. */
  readonly properties: ReadonlyMap<string, Element>
}

function readMultistatus(document: string): readonly ResourceAnswer[] {
  const root = parseXml(document)
  if (root.name !== `${DAV}multistatus`) fail('unexpected_response')
  return root.children
    .filter(({ name }) => name === `${DAV}response`)
    .map((response) => {
      const parts = response.children.filter(({ name }) => name === `${DAV}propstat`)
      const shown = parts.filter((part) => statusIn(part) === 200)
      return {
        href: childOf(response, `${DAV}href`)?.text.trim() ?? fail('unexpected_response'),
        status: statusIn(response),
        properties: new Map(
          shown.flatMap((part) => childOf(part, `${DAV}prop`)?.children.map((one) => [one.name, one] as const) ?? []),
        ),
      }
    })
}

/** Reads `HTTP/1.1 200 OK`; undefined for an element without a status. */
function statusIn(element: Element): number | undefined {
  const status = childOf(element, `${DAV}status`)
  if (!status) return undefined
  return Number(/^\s*HTTP\/[0-9.]+ ([0-9]{3})\b/.exec(status.text)?.[1] ?? fail('unexpected_response'))
}

/** The path of an `href`, which is a path or a whole address (RFC 4918 8.3). */
function pathOf(href: string): string {
  return href.replace(/^https?:\/\/[^/]*/i, '')
}

function isSame(href: string, path: string): boolean {
  return normalizePath(pathOf(href)) === normalizePath(path)
}

function fail(code: 'misconfigured' | 'unexpected_response' | 'too_large' | 'forbidden'): never {
  throw new DestinationError(code)
}
