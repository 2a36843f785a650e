/** Bad plugins that ask what they may not, that answer from memory, or that go on when they are to end. */
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  credential,
  DestinationError,
  isDestinationError,
  type Observation,
  type Plugin,
} from '@claimcheck/core/plugin'
import { checksBy, type Look, type Parts, parts, type ReadTicket, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

/** Does something more before it reads. */
function alsoDoes(more: (look: Look) => unknown): () => Plugin {
  return checksBy(async (look, all) => {
    await more(look)
    return parts.check(look, all)
  })
}

function readsTicketBy(ticket: Parts['ticket']): Plugin {
  return ticketPlugin({ parts: { ticket } })
}

/** Throws another error in place of some. */
function replaces(replace: (error: DestinationError) => unknown): () => Plugin {
  return () =>
    ticketPlugin({
      parts: {
        check: (look, all) =>
          parts.check(look, all).catch((error: unknown) => {
            throw isDestinationError(error) ? replace(error) : error
          }),
      },
    })
}

export const REQUESTS: readonly BadPlugin[] = [
  [
    'requests.methods',
    'sends POST',
    alsoDoes(({ context, project, auth }) => context.fetch(project, { method: 'POST' as 'GET', auth }).catch(() => {})),
  ],
  [
    'requests.methods',
    'calls a method that its manifest does not declare',
    alsoDoes(({ context, project, auth }) =>
      context.fetch(project, { call: { jsonRpc: 'ticket.close', params: {} }, auth }).catch(() => {}),
    ),
  ],
  [
    'requests.credentials',
    'names a credential that its connection type does not declare',
    alsoDoes(({ context, project }) => context.fetch(project, { auth: credential('other') }).catch(() => {})),
  ],
  [
    'requests.origin',
    'asks another host',
    alsoDoes(({ context }) => context.fetch('https://example.com/').catch(() => {})),
  ],
  [
    'requests.own-network',
    'opens a connection past the host',
    alsoDoes(() => fetch('http://127.0.0.1:58999/').catch(() => {})),
  ],
  [
    'requests.reveal',
    'asks for a credential in clear',
    alsoDoes(({ context, auth }) => {
      try {
        context.reveal(auth!)
      } catch {}
    }),
  ],
  [
    'requests.handles',
    'writes the handle of a secret into an address',
    alsoDoes(({ context, project, auth }) =>
      context.fetch(`${project}?token=${(auth as { token: string }).token}`).catch(() => {}),
    ),
  ],
  [
    'requests.limits',
    'sends more requests than its limit',
    () => ticketPlugin({ verifier: { limits: { requests: 1 } } }),
  ],
  [
    'same.requests',
    'asks another address each time',
    () =>
      readsTicketBy(async (look) => parts.ticket({ ...look, ticket: `${look.ticket}?nonce=${crypto.randomUUID()}` })),
  ],
  [
    'abort.heeded',
    'waits after its abort',
    checksBy(async (look, all) => {
      try {
        return await parts.check(look, all)
      } catch (error) {
        if (look.context.signal.aborted) await sleep(1000, undefined, { ref: false })
        throw error
      }
    }),
    { takesLong: true },
  ],
  [
    'cache.serves-old',
    'answers from its cache',
    () =>
      readsTicketBy(async (look) => {
        const { cache } = look.context
        const known = cache.get(look.ticket) as ReadTicket | undefined
        if (known) return known
        const ticket = await parts.ticket(look)
        cache.set(look.ticket, ticket)
        return ticket
      }),
  ],
  [
    'cache.serves-old',
    'keeps answers in a variable, and not in the cache of the host',
    () => {
      const kept = new Map<string, ReadTicket | undefined>()
      return readsTicketBy(async (look) => {
        if (!kept.has(look.ticket)) kept.set(look.ticket, await parts.ticket(look))
        return kept.get(look.ticket)
      })
    },
  ],
  [
    'observation.answered',
    'says what it sees without a request',
    () => ticketPlugin({ parts: { check: async () => ({ kind: 'absent', facts: { project_id: 7 } }) } }),
  ],
  [
    'observation.answered',
    'answers the second check from what the first was told',
    () =>
      ticketPlugin({
        parts: {
          async check(look, all) {
            const { cache } = look.context
            const known = cache.get(look.ticket) as Observation | undefined
            if (known) return known
            const seen = await parts.check(look, all)
            cache.set(look.ticket, seen)
            return seen
          },
        },
      }),
    { situations: ['open'] },
  ],
  [
    'share.joins-old-read',
    'joins a read of another check',
    () => {
      const running = new Map<string, Promise<unknown>>()
      const join = async <T>(key: string, read: () => Promise<T>): Promise<T> => {
        const reading = running.get(key) ?? read().finally(() => running.delete(key))
        running.set(key, reading)
        return reading as Promise<T>
      }
      return ticketPlugin({
        parts: { check: (look, all) => join(look.ticket, () => parts.check(look, all)) },
      })
    },
  ],
  [
    'load.fifty',
    'gives up when many checks run',
    () => {
      let running = 0
      return checksBy(async (look, all) => {
        if (running >= 20) throw new DestinationError('unavailable')
        running++
        try {
          return await parts.check(look, all)
        } finally {
          running--
        }
      })()
    },
  ],
  [
    'load.fifty',
    'mixes up checks that run at the same time',
    () => {
      let current = 0
      return checksBy(async (look, all) => {
        const mine = ++current
        const seen = await parts.check(look, all)
        return { ...seen, facts: { ...seen.facts, project_id: mine === current ? 17 : 18 } }
      })()
    },
  ],
  [
    'close.nothing-open',
    'leaves a timer',
    () =>
      ticketPlugin({
        setup() {
          leftTimers.push(setInterval(() => {}, 60_000))
          return {}
        },
      }),
  ],
  [
    'close.nothing-open',
    'leaves a server',
    () =>
      ticketPlugin({
        setup() {
          leftServers.push(createServer().listen(0, '127.0.0.1'))
          return {}
        },
      }),
  ],
  [
    'close.throws',
    'fails to close',
    () =>
      ticketPlugin({
        setup: () => ({
          async close() {
            throw new Error('not now')
          },
        }),
      }),
  ],
  ['fault.500', 'throws a text', replaces(({ code }) => code)],
  [
    'fault.403',
    'throws an Error, and no DestinationError',
    replaces(({ code, status }) => (status === 403 ? new Error(code) : new DestinationError(code))),
  ],
  [
    'fault.429-without-retry-after',
    'calls a rate limit an outage',
    replaces((error) => (error.code === 'rate_limited' ? new DestinationError('unavailable') : error)),
  ],
  ['fault.429-with-retry-after', 'drops Retry-After', replaces(({ code }) => new DestinationError(code))],
  [
    'fault.401',
    'calls 401 forbidden',
    replaces((error) => (error.status === 401 ? new DestinationError('forbidden') : error)),
  ],
]

/** What the bad plugins leave, for whoever tests them to end. */
export const leftTimers: NodeJS.Timeout[] = []
export const leftServers: ReturnType<typeof createServer>[] = []
