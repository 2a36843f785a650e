/** Bad plugins that call absent what they could not read. */
import { DestinationError, isDestinationError, type Plugin, Type } from '@claimcheck/core/plugin'
import { challengedPlugin, checksBy, parts, Ticket, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

/** Says absent for these errors. */
function absentOn(isTaken: (error: DestinationError) => boolean): () => Plugin {
  return checksBy(async (look, all) => {
    try {
      return await parts.check(look, all)
    } catch (error) {
      if (!isDestinationError(error) || !isTaken(error)) throw error
      return { kind: 'absent', facts: { project_id: 0 } }
    }
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
  ['fault.404', 'takes a 404 of the project for absence', absentOn(({ status }) => status === 404)],
  ['fault.500', 'says absent for every error', absentOn(() => true)],
  ['fault.500', 'says absent for 500', absentOn(({ status }) => status === 500)],
  ['fault.502', 'says absent for 502', absentOn(({ status }) => status === 502)],
  ['fault.401', 'says absent for 401', absentOn(({ status }) => status === 401)],
  ['fault.403', 'says absent for 403', absentOn(({ status }) => status === 403)],
  ['fault.429-with-retry-after', 'says absent for a rate limit', absentOn(({ code }) => code === 'rate_limited')],
  ['fault.silence', 'says absent when time is over', absentOn(({ code }) => code === 'timeout')],
  ['fault.one-byte-a-second', 'says absent for a body that is too slow', absentOn(({ code }) => code === 'timeout')],
  [
    'fault.reset',
    'says absent for a connection that is reset',
    absentOn(({ code, status }) => code === 'unavailable' && status === undefined),
  ],
  ['fault.large-body', 'says absent for an answer that is too large', absentOn(({ code }) => code === 'too_large')],
  ['fault.compression-bomb', 'says absent for what it cannot decompress', absentOn(({ code }) => code === 'too_large')],
  ['fault.redirect-loop', 'says absent where a redirect leads nowhere', absentOn(({ status }) => status === 302)],
  [
    'fault.redirect-to-another-host',
    'says absent where a redirect leads away',
    absentOn(({ status }) => status === 302),
  ],
  [
    'fault.truncated-json',
    'takes JSON that is cut off for an empty answer',
    ticketBy(async (response) => {
      await refuse(response, 404)
      if (!response.headers.get('content-type')?.includes('json')) throw new DestinationError('unexpected_response')
      const text = await response.text()
      try {
        return JSON.parse(text)
      } catch {
        return undefined
      }
    }),
  ],
  [
    'fault.html-for-json',
    'takes a page of HTML for no ticket',
    ticketBy(async (response) => {
      await refuse(response, 404)
      return response.headers.get('content-type')?.includes('json') ? response.json() : undefined
    }),
  ],
  [
    'fault.other-shape',
    'checks no schema',
    ticketBy(async (response) => {
      await refuse(response, 404)
      return response.json()
    }),
  ],
  [
    'fault.reset-in-the-body',
    'takes a body that breaks off for no ticket',
    ticketBy(async (response) => {
      await refuse(response, 404)
      return response.json().catch(() => undefined)
    }),
  ],
  [
    'absence.hides-permission',
    'does not look whether it may read tickets',
    () =>
      ticketPlugin({
        parts: {
          project: async ({ http, auth, project }) => (await http.json(project, { schema: ANY, auth })).value as never,
        },
      }),
  ],
  [
    'absence.parent-read',
    'reads the ticket alone, without its project',
    () => ticketPlugin({ parts: { project: async () => ({ id: 17, may_read: true }) } }),
    { situations: ['missing'] },
  ],
  [
    'absence.parent-read',
    'reads the ticket alone, and has only the token by which the host asks as an answer of the place',
    () => challengedPlugin({ parts: { project: async () => ({ id: 17, may_read: true }) } }),
    { situations: ['missing'], way: 'challenges' },
  ],
  [
    'case.sees',
    'takes the first page for the whole list',
    () =>
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
    { situations: ['closed after many events'] },
  ],
  [
    'mark.final',
    'marks an absence final that it only saw once',
    () =>
      ticketPlugin({
        parts: {
          observe(seen, look) {
            const observation = parts.observe(seen, look)
            return observation.kind === 'absent' ? { ...observation, mark: 'final' } : observation
          },
        },
      }),
  ],
  [
    'fault.stale-replica',
    'says never_before by an answer that has an Age',
    checksBy(async (look, all) => {
      const { value: ticket, headers } = await look.http.json(look.ticket, {
        schema: Ticket,
        auth: look.auth,
        also: [404],
      })
      const seen = await parts.check(look, { ...all, ticket: async () => ticket })
      return seen.kind === 'absent' && headers.has('age') ? { ...seen, mark: 'never_before' } : seen
    }),
  ],
]

const ANY = Type.Object({ id: Type.Integer() })
