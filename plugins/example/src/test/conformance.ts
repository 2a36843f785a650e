/** The input of the kit: the place that it reads, and for each situation of a ticket what a check must see and what becomes of the claim. */
import type { ConformanceOptions } from '@claimcheck/core/testkit'
import plugin from '../index.ts'
import { type Change, TicketServer } from './ticket-server.ts'

const MINUTE_MS = 60_000
const TICKET = { id: 1001, number: 1 }

type Situation =
  | 'open'
  | 'closed'
  | 'closed_otherwise'
  | 'closed_late'
  | 'closed_often'
  | 'reopened_before'
  | 'moved'
  | 'deleted'

/** The states that a ticket went through, by milliseconds after the kit began. */
const HISTORIES: Readonly<Record<Exclude<Situation, 'deleted'>, readonly Change[]>> = {
  open: [{ at: -60 * MINUTE_MS, resolution: null }],
  closed: [
    { at: -60 * MINUTE_MS, resolution: null },
    { at: 0, resolution: 'done' },
  ],
  closed_otherwise: [
    { at: -60 * MINUTE_MS, resolution: null },
    { at: 0, resolution: 'duplicate' },
  ],
  closed_late: [
    { at: -60 * MINUTE_MS, resolution: null },
    { at: 12 * MINUTE_MS, resolution: 'done' },
  ],
  closed_often: Array.from({ length: 20 }, (_, index) => ({
    at: (index - 1) * 3 * MINUTE_MS,
    resolution: index % 2 === 1 ? 'done' : null,
  })),
  moved: [
    { at: -60 * MINUTE_MS, resolution: null },
    { at: 0, resolution: 'done' },
  ],
  reopened_before: [
    { at: -60 * MINUTE_MS, resolution: null },
    { at: -50 * MINUTE_MS, resolution: 'done' },
    { at: -40 * MINUTE_MS, resolution: null },
  ],
}

const connection = (token: string) => (base_url: string) => ({
  provider: 'acme',
  options: { base_url, token },
  target: 'SHOP',
})
const claim = { target: 'SHOP-1', params: { resolution: 'done' } }
/** After the project was read, a 404 to these says that there is no such ticket. */
const absentRoutes = [/\/tickets\/\d+$/]

let server: TicketServer
let beganAt: number

const conformance: ConformanceOptions<Situation> = {
  plugin,
  connection: connection('a-token-that-reads-all'),
  unprivileged: connection('a-token-that-sees-its-own'),
  destination: {
    async start({ now }) {
      beganAt = now()
      server = await TicketServer.start({ now })
      server.tokens.set('a-token-that-reads-all', { scopes: ['tickets:read'], projects: { SHOP: 'all' } })
      server.tokens.set('a-token-that-sees-its-own', { scopes: ['tickets:read'], projects: { SHOP: 'assigned' } })
      return server
    },
    set(situation) {
      const history = situation === 'deleted' ? [] : HISTORIES[situation]
      const ticket = {
        id: TICKET.id,
        ...(situation === 'moved' && { movedTo: 'OPS-4' }),
        history: history.map((change) => ({ ...change, at: beganAt + change.at })),
      }
      server.projects.set('SHOP', {
        lastNumber: 7,
        tickets: situation === 'deleted' ? {} : { [TICKET.number]: ticket },
      })
    },
  },
  before: 'open',
  cases: [
    {
      name: 'a ticket that was closed',
      situation: 'closed',
      claim,
      sees: { kind: 'present', facts: { ticket_id: TICKET.id, closed_as: 'done' } },
      verdict: 'verified',
      absentRoutes,
    },
    {
      name: 'a ticket that was closed with another resolution',
      situation: 'closed_otherwise',
      claim,
      sees: { kind: 'present', differs: ['resolution'], facts: { ticket_id: TICKET.id, closed_as: 'duplicate' } },
      verdict: 'mismatch',
      absentRoutes,
    },
    {
      name: 'a ticket that stays open',
      situation: 'open',
      claim,
      sees: { kind: 'absent', facts: { ticket_id: TICKET.id }, stays: [] },
      verdict: 'failed',
      absentRoutes,
    },
    {
      name: 'a ticket that is closed after the tolerance',
      situation: 'open',
      changes: [{ afterMs: 12 * MINUTE_MS, situation: 'closed_late' }],
      claim,
      sees: { kind: 'absent', facts: { ticket_id: TICKET.id }, stays: [] },
      verdict: 'late',
      absentRoutes,
    },
    {
      name: 'a ticket that was closed in time, and then opened and closed again and again',
      situation: 'closed_often',
      claim,
      submittedAfterMs: 60 * MINUTE_MS,
      sees: { kind: 'present' },
      verdict: 'verified',
      absentRoutes,
    },
    {
      name: 'a ticket that was closed and opened again long before the claim',
      situation: 'reopened_before',
      claim,
      sees: { kind: 'absent', facts: { ticket_id: TICKET.id } },
      verdict: 'failed',
      absentRoutes,
    },
    {
      name: 'a ticket that was moved, so that its number leads to another key',
      situation: 'moved',
      claim,
      sees: { error: 'ambiguous_claim' },
      verdict: 'unverifiable',
    },
    {
      name: 'a ticket that was deleted, and may have been closed before',
      situation: 'deleted',
      claim,
      sees: { kind: 'absent', mark: 'may_have_been' },
      verdict: 'unverifiable',
      absentRoutes,
    },
    {
      name: 'a ticket whose number was never given out',
      situation: 'open',
      claim: { ...claim, target: 'SHOP-99' },
      sees: { kind: 'absent', mark: 'never_before' },
      verdict: 'failed',
      absentRoutes,
    },
    {
      name: 'a project that is not there, or that the token may not see',
      situation: 'closed',
      claim: { ...claim, target: 'OTHER-1' },
      sees: { error: 'forbidden' },
      verdict: 'unverifiable',
    },
    {
      name: 'a token that is not valid',
      situation: 'closed',
      connection: connection('a-token-that-was-revoked'),
      claim,
      sees: { error: 'unauthorized' },
      verdict: 'unverifiable',
    },
  ],
}

export default conformance
