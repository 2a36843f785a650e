/** A small issue tracker on loopback: the destination of the good plugin and of the bad ones. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Destination } from '@claimcheck/core/testkit'
import { isSigned } from '../../../test/support/object-store.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000
export const TOKEN = 'tracker-token-0123456789abcdef'
export const GUEST_TOKEN = 'guest-token-0123456789abcdef'

export type Situation =
  | 'open'
  | 'closed'
  | 'closed after many events'
  | 'closed otherwise'
  | 'missing'
  | 'closed late'
  | 'another'

interface TrackerEvent {
  readonly kind: 'opened' | 'labelled' | 'closed'
  /** By the tracker. */
  readonly at: string
  /** By whoever acted. */
  readonly says: string
}

const iso = (at: number) => new Date(at).toISOString()
const event = (kind: TrackerEvent['kind'], at: number, says = at): TrackerEvent => ({
  kind,
  at: iso(at),
  says: iso(says),
})
const OPENED = event('opened', NOON - 60 * MINUTE)
const labels = [-50, -40, -30].map((minutes) => event('labelled', NOON + minutes * MINUTE))

export interface Ticket {
  readonly resolution: 'fixed' | 'wontfix' | null
  readonly events: readonly TrackerEvent[]
}

/** Ticket 7, the only one. */
export const TICKETS: Readonly<Record<Situation, Ticket | undefined>> = {
  open: { resolution: null, events: [OPENED] },
  closed: { resolution: 'fixed', events: [OPENED, event('closed', NOON)] },
  'closed after many events': { resolution: 'fixed', events: [OPENED, ...labels, event('closed', NOON)] },
  'closed otherwise': { resolution: 'wontfix', events: [OPENED, event('closed', NOON)] },
  'closed late': { resolution: 'fixed', events: [OPENED, event('closed', NOON + 12 * MINUTE, NOON)] },
  missing: undefined,
  // The same address leads to another tracker, which has the same ticket.
  another: { resolution: 'fixed', events: [OPENED, event('closed', NOON)] },
}
const PER_PAGE = 2

export function tracker(): Destination<Situation, undefined> {
  let situation: Situation = 'open'

  const ticketOf = (number: number): Ticket | undefined => (number === 7 ? TICKETS[situation] : undefined)

  /** What is read by calls. */
  function called({ method, params }: { method: string; params: { number?: number } }, isMember: boolean): unknown {
    if (method === 'project.get') return { id: 17, may_read: isMember }
    const ticket = isMember ? ticketOf(params.number ?? 0) : undefined
    if (method === 'ticket.events') return ticket?.events ?? []
    return ticket ? toWire(params.number!, ticket) : null
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<ServerResponse> {
    const { url = '/', headers, method } = request
    const send = (status: number, body: unknown, more: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body))
    const isBy = (token: string) => headers.authorization === `Bearer ${token}` || isSigned(request, '', token)
    if (method === 'POST' && url === '/token') {
      const asked = new URLSearchParams(await bodyOf(request)).get('refresh_token') ?? ''
      const [token = '', used = '0'] = asked.split('.')
      return send(200, { access_token: token, refresh_token: `${token}.${Number(used) + 1}`, expires_in: 3600 })
    }
    if (url === '/token?service=tracker') {
      const [, token] = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64')
        .toString()
        .split(':')
      return token === TOKEN || token === GUEST_TOKEN ? send(200, { token, expires_in: 60 }) : send(401, {})
    }
    const isMember = isBy(TOKEN)
    const id = situation === 'another' ? 18 : 17
    if (!isMember && !isBy(GUEST_TOKEN)) {
      const challenge = `Bearer realm="http://${headers.host}/token",service="tracker"`
      return send(401, { message: 'Who are you?' }, { 'www-authenticate': challenge })
    }
    const { pathname, searchParams } = new URL(url, 'http://tracker')
    if (pathname === '/projects/ACME') return send(200, { id, key: 'ACME', may_read: isMember })
    if (pathname === '/account') return send(200, { project_id: id, scopes: isMember ? ['tickets:read'] : [] })
    if (method === 'POST' && pathname === '/rpc') {
      const call = JSON.parse(await bodyOf(request))
      return send(200, { jsonrpc: '2.0', id: call.id, result: called(call, isMember) })
    }
    const [, number] = /^\/projects\/ACME\/tickets\/(\d+)/.exec(pathname) ?? []
    const ticket = isMember ? ticketOf(Number(number)) : undefined
    if (!ticket) return send(404, { message: 'No such ticket' })
    if (pathname === `/projects/ACME/tickets/${number}`) return send(200, toWire(Number(number), ticket))
    if (pathname !== `/projects/ACME/tickets/${number}/events`) return send(404, { message: 'Not found' })
    const page = Number(searchParams.get('page') ?? '1')
    const isMore = ticket.events.length > page * PER_PAGE
    const next = `<http://${headers.host}${pathname}?page=${page + 1}>; rel="next"`
    return send(200, ticket.events.slice((page - 1) * PER_PAGE, page * PER_PAGE), isMore ? { link: next } : {})
  }

  return {
    async start() {
      const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        async stop() {
          server.closeAllConnections()
          await new Promise((resolve) => server.close(resolve))
        },
      }
    },
    set(next) {
      situation = next
      return undefined
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function toWire(number: number, { resolution }: Ticket): object {
  return { number, state: resolution === null ? 'open' : 'closed', resolution, votes: 2.5 }
}
