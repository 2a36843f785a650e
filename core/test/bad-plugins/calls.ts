/** A verifier that reads by calls of JSON-RPC, and bad ones. */
import { type Plugin, type Stay, Type } from '@claimcheck/core/plugin'
import {
  BASE,
  checksBy,
  Events,
  type Look,
  type Parts,
  Project,
  parts,
  type Replaced,
  Ticket,
  ticketPlugin,
} from './good.ts'
import type { BadPlugin } from './row.ts'

const RPC = `${BASE}/rpc`
const NoTicket = Type.Union([Ticket, Type.Null()])

const calls: Pick<Parts, 'project' | 'ticket' | 'stays'> = {
  async project({ http, auth }) {
    const { value } = await http.rpc(RPC, 'project.get', { key: 'ACME' }, { schema: Project, auth })
    return parts.project({ ...fixed(value) })
  },
  ticket: async ({ http, auth, claim }) =>
    (await http.rpc(RPC, 'ticket.get', { number: numberOf(claim.target) }, { schema: NoTicket, auth })).value ??
    undefined,
  async stays({ http, auth, claim }) {
    const { value } = await http.rpc(RPC, 'ticket.events', { number: numberOf(claim.target) }, { schema: Events, auth })
    return value.flatMap(({ kind, at }): Stay[] =>
      kind === 'closed' ? [{ appeared: { notBefore: Date.parse(at), notAfter: Date.parse(at) } }] : [],
    )
  },
}

/** What the usual reading makes of a project that was read already. */
function fixed(value: unknown): Look {
  return { http: { json: async () => ({ value }) } } as unknown as Look
}

function numberOf(target: string): number {
  return Number(target.split('-')[1])
}

export function callPlugin(replaced: Replaced = {}): Plugin {
  const methods = { jsonRpc: ['project.get', 'ticket.get', 'ticket.events'], paths: ['/rpc'] }
  return ticketPlugin({
    plugin: { manifest: { hosts: ['tracker.example.com'], methods } },
    ...replaced,
    parts: { ...calls, ...replaced.parts },
  })
}

const way = 'calls'

export const CALLS: readonly BadPlugin[] = [
  [
    'fault.refused-call',
    'takes a refused call for absence',
    () =>
      callPlugin({
        parts: {
          async ticket({ context, auth, claim }) {
            const call = { jsonRpc: 'ticket.get', params: { number: numberOf(claim.target) } }
            const response = await context.fetch(RPC, { call, auth })
            const { result } = (await response.json()) as {
              result?: { state: string; resolution: string | null } | null
            }
            return result ?? undefined
          },
        },
      }),
    { way, situations: ['open'] },
  ],
  [
    'requests.methods',
    'calls at a path that its manifest does not declare',
    () =>
      callPlugin({
        plugin: { manifest: { hosts: ['tracker.example.com'], methods: { jsonRpc: ['project.get', 'ticket.get'] } } },
      }),
    { way },
  ],
  [
    'requests.methods',
    'calls a method beside those that its manifest declares',
    () =>
      callPlugin({
        parts: {
          async check(look, all) {
            await look.http.rpc(RPC, 'ticket.close', {}, { schema: Type.Unknown(), auth: look.auth }).catch(() => {})
            return parts.check(look, all)
          },
        },
      }),
    { way },
  ],
  [
    'requests.headers',
    'makes another request of a GET by a header',
    () => withHeaders({ 'x-http-method-override': 'DELETE' }),
  ],
  ['requests.headers', 'sends a cookie', () => withHeaders({ Cookie: 'session=1' })],
]

function withHeaders(headers: Record<string, string>): Plugin {
  return checksBy(async (look, all) => {
    await look.context.fetch(look.project, { headers, auth: look.auth }).catch(() => {})
    return parts.check(look, all)
  })()
}
