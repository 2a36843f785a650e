/** Bad plugins that ask what they may not, that answer from memory, or that go on when they are to end. */
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { credential, DestinationError, isDestinationError, type Plugin } from '@claimcheck/core/plugin'
import { type Look, type Parts, parts, type ReadTicket, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

/** Does something more before it reads. */
function alsoDoes(more: (look: Look) => unknown): () => Plugin {
  return () =>
    ticketPlugin({
      parts: {
        async check(look, all) {
          await more(look)
          return parts.check(look, all)
        },
      },
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
  {
    what: 'sends POST',
    caughtBy: 'requests.methods',
    plugin: alsoDoes(({ context, project, auth }) =>
      context.fetch(project, { method: 'POST' as 'GET', auth }).catch(() => {}),
    ),
  },
  {
    what: 'calls a method that its manifest does not declare',
    caughtBy: 'requests.methods',
    plugin: alsoDoes(({ context, project, auth }) =>
      context.fetch(project, { call: { jsonRpc: 'ticket.close', params: {} }, auth }).catch(() => {}),
    ),
  },
  {
    what: 'names a credential that its connection type does not declare',
    caughtBy: 'requests.credentials',
    plugin: alsoDoes(({ context, project }) => context.fetch(project, { auth: credential('other') }).catch(() => {})),
  },
  {
    what: 'asks another host',
    caughtBy: 'requests.origin',
    plugin: alsoDoes(({ context }) => context.fetch('https://example.com/').catch(() => {})),
  },
  {
    what: 'opens connections of its own',
    caughtBy: 'requests.own-network',
    plugin: alsoDoes(() => fetch('http://127.0.0.1:58999/').catch(() => {})),
  },
  {
    what: 'asks for a credential in clear',
    caughtBy: 'requests.reveal',
    plugin: alsoDoes(({ context, auth }) => {
      try {
        context.reveal(auth!)
      } catch {}
    }),
  },
  {
    what: 'writes the handle of a secret into an address',
    caughtBy: 'requests.handles',
    plugin: alsoDoes(({ context, project, auth }) =>
      context.fetch(`${project}?token=${(auth as { token: string }).token}`).catch(() => {}),
    ),
  },
  {
    what: 'sends more requests than its limit',
    caughtBy: 'requests.limits',
    plugin: () => ticketPlugin({ verifier: { limits: { requests: 1 } } }),
  },
  {
    what: 'asks another address each time',
    caughtBy: 'same.requests',
    plugin: () =>
      readsTicketBy(async (look) => parts.ticket({ ...look, ticket: `${look.ticket}?nonce=${crypto.randomUUID()}` })),
  },
  {
    what: 'waits after its abort',
    caughtBy: 'abort.heeded',
    takesLong: true,
    plugin: () =>
      ticketPlugin({
        parts: {
          async check(look, all) {
            try {
              return await parts.check(look, all)
            } catch (error) {
              if (look.context.signal.aborted) await sleep(1000, undefined, { ref: false })
              throw error
            }
          },
        },
      }),
  },
  {
    what: 'answers from its cache',
    caughtBy: 'cache.serves-old',
    plugin: () =>
      readsTicketBy(async (look) => {
        const { cache } = look.context
        const known = cache.get(look.ticket) as ReadTicket | undefined
        if (known) return known
        const ticket = await parts.ticket(look)
        cache.set(look.ticket, ticket)
        return ticket
      }),
  },
  {
    what: 'keeps answers in a variable of its own',
    caughtBy: 'cache.serves-old',
    plugin: () => {
      const kept = new Map<string, ReadTicket | undefined>()
      return readsTicketBy(async (look) => {
        if (!kept.has(look.ticket)) kept.set(look.ticket, await parts.ticket(look))
        return kept.get(look.ticket)
      })
    },
  },
  {
    what: 'joins a read of another check',
    caughtBy: 'share.joins-old-read',
    plugin: () => {
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
  },
  {
    what: 'gives up when many checks run',
    caughtBy: 'load.fifty',
    plugin: () => {
      let running = 0
      return ticketPlugin({
        parts: {
          async check(look, all) {
            if (running >= 20) throw new DestinationError('unavailable')
            running++
            try {
              return await parts.check(look, all)
            } finally {
              running--
            }
          },
        },
      })
    },
  },
  {
    what: 'mixes up checks that run at the same time',
    caughtBy: 'load.fifty',
    plugin: () => {
      let current = 0
      return ticketPlugin({
        parts: {
          async check(look, all) {
            const mine = ++current
            const seen = await parts.check(look, all)
            return { ...seen, facts: { ...seen.facts, project_id: mine === current ? 17 : 18 } }
          },
        },
      })
    },
  },
  {
    what: 'leaves a timer',
    caughtBy: 'close.nothing-open',
    plugin: () =>
      ticketPlugin({
        setup() {
          leftTimers.push(setInterval(() => {}, 60_000))
          return {}
        },
      }),
  },
  {
    what: 'leaves a server',
    caughtBy: 'close.nothing-open',
    plugin: () =>
      ticketPlugin({
        setup() {
          leftServers.push(createServer().listen(0, '127.0.0.1'))
          return {}
        },
      }),
  },
  {
    what: 'fails to close',
    caughtBy: 'close.throws',
    plugin: () =>
      ticketPlugin({
        setup: () => ({
          async close() {
            throw new Error('not now')
          },
        }),
      }),
  },
  {
    what: 'throws a text',
    caughtBy: 'fault.500',
    plugin: replaces(({ code }) => code),
  },
  {
    what: 'throws an Error of its own',
    caughtBy: 'fault.403',
    plugin: replaces(({ code, status }) => (status === 403 ? new Error(code) : new DestinationError(code))),
  },
  {
    what: 'calls a rate limit an outage',
    caughtBy: 'fault.429-without-retry-after',
    plugin: replaces((error) => (error.code === 'rate_limited' ? new DestinationError('unavailable') : error)),
  },
  {
    what: 'drops Retry-After',
    caughtBy: 'fault.429-with-retry-after',
    plugin: replaces(({ code }) => new DestinationError(code)),
  },
  {
    what: 'calls 401 forbidden',
    caughtBy: 'fault.401',
    plugin: replaces((error) => (error.status === 401 ? new DestinationError('forbidden') : error)),
  },
]

/** What the bad plugins leave, for whoever tests them to end. */
export const leftTimers: NodeJS.Timeout[] = []
export const leftServers: ReturnType<typeof createServer>[] = []
