/** A small issue tracker on loopback: the destination of the good plugin and of the bad ones. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Destination } from '@claimcheck/core/testkit'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000
export const TOKEN = 'tracker-token-0123456789abcdef'
export const GUEST_TOKEN = 'guest-token-0123456789abcdef'

export type Situation = 'open' | 'closed' | 'closed after many events' | 'closed otherwise' | 'missing' | 'closed late'

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

interface Ticket {
  readonly resolution: 'fixed' | 'wontfix' | null
  readonly events: readonly TrackerEvent[]
}

const TICKETS: Readonly<Record<Situation, Ticket | undefined>> = {
  open: { resolution: null, events: [OPENED] },
  closed: { resolution: 'fixed', events: [OPENED, event('closed', NOON)] },
  'closed after many events': { resolution: 'fixed', events: [OPENED, ...labels, event('closed', NOON)] },
  'closed otherwise': { resolution: 'wontfix', events: [OPENED, event('closed', NOON)] },
  'closed late': { resolution: 'fixed', events: [OPENED, event('closed', NOON + 12 * MINUTE, NOON)] },
  missing: undefined,
}
const PER_PAGE = 2

export function tracker(): Destination<Situation, undefined> {
  let situation: Situation = 'open'

  function answer({ url = '/', headers }: IncomingMessage, response: ServerResponse): ServerResponse {
    const send = (status: number, body: unknown, more: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body))
    const isMember = headers.authorization === `Bearer ${TOKEN}`
    if (!isMember && headers.authorization !== `Bearer ${GUEST_TOKEN}`) {
      return send(401, { message: 'Who are you?' })
    }
    const { pathname, searchParams } = new URL(url, 'http://tracker')
    if (pathname === '/projects/ACME') return send(200, { id: 17, key: 'ACME', may_read: isMember })
    const ticket = isMember ? TICKETS[situation] : undefined
    if (!ticket) return send(404, { message: 'No such ticket' })
    if (pathname === '/projects/ACME/tickets/7') {
      const { resolution } = ticket
      return send(200, { number: 7, state: resolution === null ? 'open' : 'closed', resolution, votes: 2.5 })
    }
    if (pathname !== '/projects/ACME/tickets/7/events') return send(404, { message: 'Not found' })
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
