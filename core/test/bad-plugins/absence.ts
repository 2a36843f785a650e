/** Bad plugins that call absent what they could not read. */
import { DestinationError, isDestinationError, type Plugin, Type } from '@claimcheck/core/plugin'
import { challengedPlugin, parts, Ticket, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

/** Says absent for these errors. */
function absentOn(isTaken: (error: DestinationError) => boolean): () => Plugin {
  return () =>
    ticketPlugin({
      parts: {
        async check(look, all) {
          try {
            return await parts.check(look, all)
          } catch (error) {
            if (!isDestinationError(error) || !isTaken(error)) throw error
            return { kind: 'absent', facts: { project_id: 0 } }
          }
        },
      },
    })
}

/** Reads the ticket by hand. */
function ticketBy(read: (response: Response, now: () => number) => Promise<unknown>): () => Plugin {
  return () =>
    ticketPlugin({
      parts: {
        async ticket({ context, ticket, auth }) {
          const response = await context.fetch(ticket, { auth })
          return (await read(response, context.now)) as { state: string; resolution: string | null } | undefined
        },
      },
    })
}

async function refuse({ status }: Response, ...taken: number[]): Promise<void> {
  if (status === 429) throw new DestinationError('rate_limited', { status })
  if (status === 401) throw new DestinationError('unauthorized', { status })
  if (status === 403) throw new DestinationError('forbidden', { status })
  if (status !== 200 && !taken.includes(status)) throw new DestinationError('unavailable', { status })
}

export const ABSENCE: readonly BadPlugin[] = [
  {
    what: 'takes a 404 of the project for absence',
    caughtBy: 'fault.404',
    plugin: absentOn(({ status }) => status === 404),
  },
  { what: 'says absent for every error', caughtBy: 'fault.500', plugin: absentOn(() => true) },
  { what: 'says absent for 500', caughtBy: 'fault.500', plugin: absentOn(({ status }) => status === 500) },
  { what: 'says absent for 502', caughtBy: 'fault.502', plugin: absentOn(({ status }) => status === 502) },
  { what: 'says absent for 401', caughtBy: 'fault.401', plugin: absentOn(({ status }) => status === 401) },
  { what: 'says absent for 403', caughtBy: 'fault.403', plugin: absentOn(({ status }) => status === 403) },
  {
    what: 'says absent for a rate limit',
    caughtBy: 'fault.429-with-retry-after',
    plugin: absentOn(({ code }) => code === 'rate_limited'),
  },
  {
    what: 'says absent when time is over',
    caughtBy: 'fault.silence',
    plugin: absentOn(({ code }) => code === 'timeout'),
  },
  {
    what: 'says absent for a body that is too slow',
    caughtBy: 'fault.one-byte-a-second',
    plugin: absentOn(({ code }) => code === 'timeout'),
  },
  {
    what: 'says absent for a connection that is reset',
    caughtBy: 'fault.reset',
    plugin: absentOn(({ code, status }) => code === 'unavailable' && status === undefined),
  },
  {
    what: 'says absent for an answer that is too large',
    caughtBy: 'fault.large-body',
    plugin: absentOn(({ code }) => code === 'too_large'),
  },
  {
    what: 'says absent for what it cannot decompress',
    caughtBy: 'fault.compression-bomb',
    plugin: absentOn(({ code }) => code === 'too_large'),
  },
  {
    what: 'says absent where a redirect leads nowhere',
    caughtBy: 'fault.redirect-loop',
    plugin: absentOn(({ status }) => status === 302),
  },
  {
    what: 'says absent where a redirect leads away',
    caughtBy: 'fault.redirect-to-another-host',
    plugin: absentOn(({ status }) => status === 302),
  },
  {
    what: 'takes JSON that is cut off for an empty answer',
    caughtBy: 'fault.truncated-json',
    plugin: ticketBy(async (response) => {
      await refuse(response, 404)
      if (!response.headers.get('content-type')?.includes('json')) throw new DestinationError('unexpected_response')
      const text = await response.text()
      try {
        return JSON.parse(text)
      } catch {
        return undefined
      }
    }),
  },
  {
    what: 'takes a page of HTML for no ticket',
    caughtBy: 'fault.html-for-json',
    plugin: ticketBy(async (response) => {
      await refuse(response, 404)
      return response.headers.get('content-type')?.includes('json') ? response.json() : undefined
    }),
  },
  {
    what: 'checks no schema',
    caughtBy: 'fault.other-shape',
    plugin: ticketBy(async (response) => {
      await refuse(response, 404)
      return response.json()
    }),
  },
  {
    what: 'takes a body that breaks off for no ticket',
    caughtBy: 'fault.reset-in-the-body',
    plugin: ticketBy(async (response) => {
      await refuse(response, 404)
      return response.json().catch(() => undefined)
    }),
  },
  {
    what: 'does not look whether it may read tickets',
    caughtBy: 'absence.hides-permission',
    plugin: () =>
      ticketPlugin({
        parts: {
          project: async ({ http, auth, project }) => (await http.json(project, { schema: ANY, auth })).value as never,
        },
      }),
  },
  {
    what: 'reads the ticket alone, without its project',
    caughtBy: 'absence.parent-read',
    situations: ['missing'],
    plugin: () => ticketPlugin({ parts: { project: async () => ({ id: 17, may_read: true }) } }),
  },
  {
    what: 'reads the ticket alone, and has only the token by which the host asks as an answer of the place',
    caughtBy: 'absence.parent-read',
    situations: ['missing'],
    way: 'challenges',
    plugin: () => challengedPlugin({ parts: { project: async () => ({ id: 17, may_read: true }) } }),
  },
  {
    what: 'takes the first page for the whole list',
    caughtBy: 'case.sees',
    situations: ['closed after many events'],
    plugin: () =>
      ticketPlugin({
        parts: {
          stays: (look) =>
            parts.stays({
              ...look,
              http: {
                ...look.http,
                paginate: (url, init) => look.http.paginate(url, { ...init, next: () => undefined }),
              },
            }),
        },
      }),
  },
  {
    what: 'marks an absence final that it only saw once',
    caughtBy: 'mark.final',
    plugin: () =>
      ticketPlugin({
        parts: {
          observe(seen, look) {
            const observation = parts.observe(seen, look)
            return observation.kind === 'absent' ? { ...observation, mark: 'final' } : observation
          },
        },
      }),
  },
  {
    what: 'says never_before by an answer that has an Age',
    caughtBy: 'fault.stale-replica',
    plugin: () =>
      ticketPlugin({
        parts: {
          async check(look, all) {
            const { value: ticket, headers } = await look.http.json(look.ticket, {
              schema: Ticket,
              auth: look.auth,
              also: [404],
            })
            const seen = await parts.check(look, { ...all, ticket: async () => ticket })
            return seen.kind === 'absent' && headers.has('age') ? { ...seen, mark: 'never_before' } : seen
          },
        },
      }),
  },
]

const ANY = Type.Object({ id: Type.Integer() })
