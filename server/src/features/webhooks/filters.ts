/** Decides which events a target gets. */
import type { EventRow, EventType } from '../../storage/events.ts'
import type { ClaimTraits, ReportGrant, WebhookFilters } from '../../storage/webhooks.ts'

/** Tells whether filters ask for more than the type of an event, so that its claim has to be read. */
export function needsTraits({ verdicts, actions, agents, connections }: WebhookFilters): boolean {
  return [verdicts, actions, agents, connections].some((list) => list.length > 0)
}

/** Events of agents, whose subject is a claim. */
const ofAgents: ReadonlySet<EventType> = new Set(['agent.silent', 'rate.jumped'])

/** Tells whether the subject of an event is a claim. */
export function namesClaim({ type }: Pick<EventRow, 'type'>): boolean {
  return type === 'claim.decided' || ofAgents.has(type)
}

/**
 * Tells whether a target gets an event.
 * @param claim the claim that the event names; undefined where no filter needs it
 * @param report the grant of a target that reports on commits: on those of its repositories alone
 */
export function fits(
  filters: WebhookFilters,
  { type, subject }: EventRow,
  claim: ClaimTraits | undefined,
  report: ReportGrant | null = null,
): boolean {
  if (report && !report.repositories.some((one) => one.toLowerCase() === claim?.target.toLowerCase())) return false
  if (!admits(filters.types, type)) return false
  if (type === 'claim.decided') return !needsTraits(filters) || (claim !== undefined && fitsClaim(filters, claim))
  if (ofAgents.has(type)) return admits(filters.agents, claim?.agentId ?? null)
  return type.startsWith('connection.') ? admits(filters.connections, subject) : true
}

function fitsClaim({ verdicts, actions, agents, connections }: WebhookFilters, claim: ClaimTraits): boolean {
  return (
    admits(verdicts, claim.verdict) &&
    // A claim that used an alias of its action is found by either name.
    (admits(actions, claim.action) || admits(actions, claim.profileAction)) &&
    admits(agents, claim.agentId) &&
    admits(connections, claim.connectionId)
  )
}

/** Tells whether a list, which restricts nothing where it is empty, has the value. */
function admits<T>(list: readonly T[], value: T | null): boolean {
  return list.length === 0 || (value !== null && list.includes(value))
}
