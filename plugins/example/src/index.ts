/** Verifies that a ticket was closed: reads its project, then the ticket with its history, and reports what they show. */
import type { LogTime, Stay } from '@claimcheck/core/plugin'
import { bearer, DestinationError, definePlugin, defineVerifier, Type, windowStart } from '@claimcheck/core/plugin'
import { connectionType, type Options } from './connection.ts'
import { profile } from './profile.ts'

const Project = Type.Object({ last_number: Type.Integer(), sees_all_tickets: Type.Boolean() })
const Change = Type.Object({
  at: Type.String({ format: 'date-time' }),
  // A change to null means that the ticket was open from then on.
  resolution: Type.Union([Type.String(), Type.Null()]),
})
const Ticket = Type.Object({ id: Type.Integer(), key: Type.String(), history: Type.Array(Change, { minItems: 1 }) })

const verifier = defineVerifier({
  profile,
  providers: [connectionType.provider],
  limits: { requests: 8, bodyBytes: 256 * 1024, timeMs: 10_000 },
  normalize: ({ target, params }) => ({ target: target.toUpperCase(), params }),
  async check(claim, { connection, http, previous }) {
    const { target, params } = claim
    const { base_url, token } = connection!.options as Options
    const [name, number] = target.split('-')
    const url = `${base_url}/api/projects/${name}`
    const auth = bearer(token)

    // A 404 may hide what the token may not see, so the project comes first: its 404 is thrown, as `forbidden`.
    const { value: project } = await http.json(url, { schema: Project, auth })
    const { value: ticket } = await http.json(`${url}/tickets/${number}`, { schema: Ticket, auth, also: [404] })
    if (!ticket) {
      if (!project.sees_all_tickets) throw new DestinationError('forbidden')
      // A number that was given out belongs to a deleted ticket, which may have been closed before.
      const wasNever = Number(number) > project.last_number
      return { kind: 'absent', facts: {}, mark: wasNever ? 'never_before' : 'may_have_been' }
    }
    // A ticket to which this number leads now, or that was made again under it, is not the claimed one.
    const ids = previous.map(({ observation }) => observation.facts.ticket_id)
    const isOther = ids.some((id) => id !== undefined && id !== ticket.id)
    if (ticket.key !== target || isOther) throw new DestinationError('ambiguous_claim')

    const all: Stay[] = ticket.history.flatMap(({ at, resolution }, index) => {
      const next = ticket.history[index + 1]
      const isClaimed = resolution === params.resolution
      return isClaimed ? [{ appeared: secondOf(at), ...(next && { removed: secondOf(next.at) }) }] : []
    })
    const { at, resolution } = ticket.history.at(-1)!
    // The first stay that the claim can mean decides, and eight is the most that is recorded.
    const stays = all.filter(({ removed }) => !removed || removed.notAfter >= windowStart(claim)).slice(0, 8)
    const observed = { facts: { ticket_id: ticket.id }, stays }
    if (resolution === null) return { kind: 'absent', ...observed }
    const facts = { ...observed.facts, closed_as: resolution, closed_at: new Date(at).toISOString() }
    const differs = resolution === params.resolution ? [] : ['resolution']
    return { kind: 'present', differs, ...observed, facts }
  },
})

/** Reads a time of the history, which tells whole seconds: the change was somewhere in that second. */
function secondOf(at: string): LogTime {
  return { notBefore: Date.parse(at), notAfter: Date.parse(at) + 999 }
}

export default definePlugin({
  name: 'acme',
  api: 3,
  manifest: { hosts: ['connection.base_url'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [verifier], connections: [connectionType] }),
})
