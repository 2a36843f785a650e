/** A CalDAV server with one calendar, Google's Calendar API with one, and an endpoint of tokens, on loopback. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export const DAV_HOST = 'dav.example.com'
export const DAV_PATH = '/calendars/ann/work'
export const DAV_CALENDAR = `caldav:${DAV_HOST}${DAV_PATH}`
export const GOOGLE_ID = 'team@group.calendar.google.com'
export const GOOGLE_CALENDAR = `google:${GOOGLE_ID}`
export const PASSWORD = 'reads-the-calendar'
const ACCESS_TOKEN = 'ya29.reads-the-events-of-calendars'

export type GoogleEvent = { readonly id: string } & Readonly<Record<string, unknown>>

async function serve(handle: RequestListener) {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}

export const GOOGLE_OPTIONS = {
  client_id: '1023-reads.apps.googleusercontent.com',
  client_secret: 'GOCSPX-secret-of-the-client',
  refresh_token: '1//0g-refresh-token-of-ann',
}

/** Starts an endpoint that gives a token for the one refresh token. */
export async function startTokens() {
  const { url, stop } = await serve(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const form = new URLSearchParams(body)
    const isKnown = Object.entries(GOOGLE_OPTIONS).every(([name, value]) => form.get(name) === value)
    const answer = isKnown
      ? { access_token: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 3599 }
      : { error: 'invalid_grant' }
    response.writeHead(isKnown ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  return { pluginOptions: { google_token_url: `${url}/token` }, stop }
}

/** An answer of JSON with another status than 200. */
class Refusal extends Error {
  readonly status: number

  constructor(status: number) {
    super(String(status))
    this.status = status
  }
}

export class Calendars {
  /** The objects of the CalDAV calendar, by the names of their files. */
  objects: Readonly<Record<string, string>> = {}
  owner = '/principals/ann/'
  /** Tells whether the server can search by UID; else it finds nothing. */
  searches = true
  /** An answer to every search and listing of WebDAV, in place of the server's own. */
  davAnswer: string | undefined
  google: readonly GoogleEvent[] = []
  role = 'reader'
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  start() {
    return serve(async (request, response) => {
      response.setHeader('date', new Date(this.#now()).toUTCString())
      let body = ''
      for await (const chunk of request) body += chunk
      try {
        const isGoogle = request.url!.startsWith('/calendar/v3/')
        response.setHeader('content-type', isGoogle ? 'application/json' : 'application/xml; charset=utf-8')
        const answer = isGoogle ? JSON.stringify(this.#google(request)) : this.#dav(request, body)
        response.writeHead(isGoogle ? 200 : 207).end(answer)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        response.writeHead(error.status).end('{}')
      }
    })
  }

  #dav({ method, url, headers: { authorization } }: IncomingMessage, body: string): string {
    if (authorization !== `Basic ${btoa(`ann:${PASSWORD}`)}`) throw new Refusal(401)
    if (method === 'REPORT' && this.davAnswer !== undefined) return this.davAnswer
    if (url !== `${DAV_PATH}/`) throw new Refusal(404)
    if (method === 'PROPFIND') return multistatus([response(url!, this.#properties())])
    const uid = /<c:text-match[^>]*>([^<]*)</.exec(body)?.[1]
    const found = Object.entries(this.objects).filter(([, data]) => {
      return uid === undefined || (this.searches && data.replace(/\r\n /g, '').includes(uid))
    })
    return multistatus(
      found.map(([file, data]) =>
        response(`${DAV_PATH}/${file}`, `<cal:calendar-data>${escapeXml(data)}</cal:calendar-data>`),
      ),
    )
  }

  #properties(): string {
    return [
      '<resourcetype><collection/><cal:calendar/></resourcetype>',
      `<owner><href>${this.owner}</href></owner>`,
      '<current-user-principal><href>/principals/ann/</href></current-user-principal>',
      '<current-user-privilege-set><privilege><read/></privilege></current-user-privilege-set>',
    ].join('')
  }

  #google({ url, headers: { authorization } }: IncomingMessage): object {
    if (authorization !== `Bearer ${ACCESS_TOKEN}`) throw new Refusal(401)
    const { pathname, searchParams } = new URL(url!, 'http://calendars')
    const [, calendar, id] = /^\/calendar\/v3\/calendars\/([^/]+)\/events(?:\/([^/]+))?$/.exec(pathname) ?? []
    if (decodeURIComponent(calendar ?? '') !== GOOGLE_ID) throw new Refusal(404)
    if (id !== undefined) {
      const event = this.google.find((one) => one.id === id)
      if (!event) throw new Refusal(404)
      return event
    }
    const uid = searchParams.get('iCalUID')
    const shown = this.google.filter(({ iCalUID, status, isHidden }) => {
      if (isHidden && searchParams.get('showHiddenInvitations') !== 'true') return false
      if (status === 'cancelled' && searchParams.get('showDeleted') !== 'true') return false
      return uid === null || iCalUID === uid
    })
    return { kind: 'calendar#events', accessRole: this.role, items: this.role === 'freeBusyReader' ? [] : shown }
  }
}

function multistatus(responses: readonly string[]): string {
  return `<?xml version="1.0"?>\n<multistatus xmlns="DAV:" xmlns:cal="urn:ietf:params:xml:ns:caldav">${responses.join('')}</multistatus>`
}

function response(path: string, properties: string): string {
  const propstat = `<propstat><prop>${properties}</prop><status>HTTP/1.1 200 OK</status></propstat>`
  return `<response><href>${path}</href>${propstat}</response>`
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\r', '&#13;')
}

/** A calendar object with an event, of lines that are given or usual. */
export function iCalendar(
  event: Readonly<Record<string, string>>,
  ...others: Readonly<Record<string, string>>[]
): string {
  const components = [event, ...others].flatMap((lines) => [
    'BEGIN:VEVENT',
    ...Object.entries(lines).map(([name, value]) => `${name}${value.startsWith(';') ? '' : ':'}${value}`),
    'DTSTAMP:20200101T000000Z',
    'CREATED:20200101T000000Z',
    'SUMMARY:Board meeting <private> & more',
    'END:VEVENT',
  ])
  const all = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Acme//EN', ...components, 'END:VCALENDAR', '']
  return all.map((line) => line.replace(/.{60}(?=.)/g, '$&\r\n ')).join('\r\n')
}
