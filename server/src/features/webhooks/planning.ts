/** Finds the deliveries that new events become. Nothing is written: a plan holds while its target has reached no other event. */
import type { EventRow } from '../../storage/events.ts'
import type { Reads } from '../../storage/storage.ts'
import type { ClaimTraits, WebhookFormat, WebhookTargetRow } from '../../storage/webhooks.ts'
import { fits, namesClaim, needsTraits } from './filters.ts'
import { kindOf } from './kinds.ts'

// The transaction that stores a round of plans is short: claims wait for it on SQLite.
const MOST_TARGETS = 20
/** The most events of a target that one round turns into deliveries. */
export const MOST_EVENTS = 100

/** The step of one target: from the event that it has reached, over these that it gets, to another. */
export interface Plan {
  readonly workspaceId: string
  readonly targetId: string
  readonly format: WebhookFormat
  readonly from: number
  readonly to: number
  readonly events: readonly EventRow[]
  /** The traits of the claims among them, by their ids. */
  readonly traits: ReadonlyMap<string, ClaimTraits>
}

export interface Plans {
  readonly plans: readonly Plan[]
  /** True if there are more events than these. */
  readonly isMore: boolean
}

export async function planDeliveries(
  read: Pick<Reads, 'webhooks' | 'events'>,
  mostEvents = MOST_EVENTS,
): Promise<Plans> {
  const behind = await read.webhooks.behind(MOST_TARGETS)
  // Targets that reached different events are apart: one that is far behind would hold up the others of its workspace.
  const together = new Map<string, WebhookTargetRow[]>()
  for (const target of behind) {
    const place = `${target.workspaceId} ${target.reached}`
    together.set(place, [...(together.get(place) ?? []), target])
  }
  const planned = await Promise.all(
    [...together.values()].map((targets) => planOf(read, targets[0]!.workspaceId, targets, mostEvents)),
  )
  const isMore = behind.length === MOST_TARGETS || planned.some((one) => one.isMore)
  return { plans: planned.flatMap(({ plans }) => plans), isMore }
}

async function planOf(
  read: Pick<Reads, 'webhooks' | 'events'>,
  workspaceId: string,
  targets: readonly WebhookTargetRow[],
  mostEvents: number,
): Promise<Plans> {
  // The head is read before the events: all up to it are among them, if they are still stored.
  const head = (await read.events.last([workspaceId])).get(workspaceId) ?? 0
  const first = Math.min(...targets.map(({ reached }) => reached))
  const rows = await read.events.after(workspaceId, first, mostEvents)
  const isMore = rows.length === mostEvents
  const last = rows.at(-1)?.number ?? 0
  const to = isMore ? last : Math.max(last, head)
  const isNeeded = targets.some(({ filters, format }) => needsTraits(filters) || kindOf(format).gathers)
  const named = isNeeded ? rows.filter(namesClaim) : []
  const traits = await read.webhooks.claimTraits(named.map(({ subject }) => subject))
  const plans = targets
    .filter(({ reached }) => reached < to)
    .map(({ id, format, reached, filters, report }) => {
      const events = rows.filter((row) => row.number > reached && fits(filters, row, traits.get(row.subject), report))
      return { workspaceId, targetId: id, format, from: reached, to, events, traits }
    })
  return { plans, isMore }
}
