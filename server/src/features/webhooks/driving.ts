/** Sends leased deliveries on lanes, and collects what became of them. */
import type * as wire from '@claimcheck/core/api'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { settledWithin } from '../../base/time-limit.ts'
import type { Storage } from '../../storage/storage.ts'
import type { DeliveryRow, TriedDelivery, WebhookTargetRow } from '../../storage/webhooks.ts'
import type { Events } from '../events/events.ts'
import type { OpenTarget } from './kind.ts'
import type { Lane, Lanes } from './lanes.ts'
import { afterTry, expired } from './schedule.ts'
import type { Try } from './sender.ts'
import type { Webhooks } from './webhooks.ts'

/** Deliveries of a target that this host has leased, and the lanes that it has taken for them. */
export interface Leased {
  readonly lane: Lane
  readonly count: number
  readonly target: WebhookTargetRow
  readonly rows: readonly DeliveryRow[]
  /** Deliveries that are told with the first row, and share what becomes of it. */
  readonly joined: readonly DeliveryRow[]
}

/** The deliveries that one message tells. */
interface Led extends Leased {
  /** The number of deliveries joined to the first one that have something to tell. */
  readonly more: number
}

/** A delivery after a try; without one, it was not sent after all. */
export interface Ended {
  readonly row: DeliveryRow
  readonly tried?: TriedDelivery
  /** The sealed address to which it was sent. */
  readonly sealedUrl?: string | null
  /** The time that the receiver asked to be left alone. */
  readonly retryAfterMs?: number | undefined
}

export interface DrivingParts {
  readonly storage: Pick<Storage, 'read'>
  readonly webhooks: Pick<Webhooks, 'openTarget' | 'send'>
  readonly events: Pick<Events, 'documents'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'warn'>
}

/** The time after which a lane begins nothing more: its target may be switched off meanwhile, and other lanes may be faster. */
const LANE_MS = 1000
/** The time that requests under way have when the host stops. What they did is unknown then, and it is sent again. */
const LAST_REQUESTS_MS = 3000

/** The company of a delivery that is told alone. */
const ALONE: Pick<Led, 'joined' | 'more'> = { joined: [], more: 0 }

type EventOf = (row: DeliveryRow) => wire.Event | undefined

/** @param freed called when a lane is free */
export function createDriving(parts: DrivingParts, lanes: Lanes, freed: () => void) {
  const { storage, webhooks, events, now, logger } = parts
  const ended: Ended[] = []
  const running = new Set<Promise<void>>()
  let isEnding = false
  const aborted = new AbortController()

  /** Reads what deliveries send, once for all targets of an event. */
  async function readEvents(rows: readonly DeliveryRow[]): Promise<EventOf> {
    const keyOf = (workspaceId: string, number: number) => `${workspaceId} ${number}`
    const asked = new Map(
      rows.map(({ workspaceId, eventNumber }) => [
        keyOf(workspaceId, eventNumber),
        { workspaceId, number: eventNumber },
      ]),
    )
    const found = await storage.read.webhooks.events([...asked.values()])
    const documents = await events.documents(found)
    const read = new Map(found.map(({ workspaceId, number }, index) => [keyOf(workspaceId, number), documents[index]]))
    return ({ workspaceId, eventNumber }) => read.get(keyOf(workspaceId, eventNumber))
  }

  /** Puts a claim first that was not erased, if there is any, and counts the others: a message about an erased one would tell nothing of them. */
  async function lead(leased: readonly Leased[]): Promise<readonly Led[]> {
    const gathered = leased
      .filter(({ joined }) => joined.length > 0)
      .flatMap(({ rows, joined }) => [rows[0]!, ...joined])
    if (gathered.length === 0) return leased.map((one) => ({ ...one, more: 0 }))
    const traits = await storage.read.webhooks.claimTraits(gathered.map(({ subject }) => subject))
    return leased.map((one) => {
      if (one.joined.length === 0) return { ...one, more: 0 }
      const [row, ...others] = one.rows
      const all = [row!, ...one.joined]
      // An erased claim has an empty agent.
      const kept = all.filter(({ subject }) => traits.get(subject)?.agentId)
      const first = kept[0] ?? row!
      const joined = all.filter((other) => other !== first)
      return { ...one, rows: [first, ...others], joined, more: Math.max(kept.length - 1, 0) }
    })
  }

  /** Opens a target; undefined where its secret key is missing. */
  function open(target: WebhookTargetRow): OpenTarget | undefined {
    try {
      return webhooks.openTarget(target)
    } catch (error) {
      logger.error({ err: error, webhookId: target.id }, 'a webhook cannot be opened')
      return undefined
    }
  }

  async function attempt(
    row: DeliveryRow,
    target: OpenTarget | undefined,
    event: wire.Event | undefined,
    more: number,
  ): Promise<Ended> {
    if (event === undefined) return { row, tried: expired(row) }
    const at = now()
    const outcome: Try = target
      ? await webhooks.send(target, { id: row.id, event, more }, aborted.signal)
      : { status: null, durationMs: 0, fault: 'unreadable', retryAfterMs: undefined }
    if (aborted.signal.aborted && outcome.status === null) return { row }
    lanes.note(row.targetId, outcome.fault === null)
    return { row, tried: afterTry(row, outcome, at), retryAfterMs: outcome.retryAfterMs }
  }

  /** Sends on one lane. What it does not begin soon, or after a failure, is given back. */
  async function drive(
    rows: readonly DeliveryRow[],
    { joined, more }: Pick<Led, 'joined' | 'more'>,
    target: OpenTarget | undefined,
    sealedUrl: string | null,
    eventOf: EventOf,
  ): Promise<void> {
    const begun = performance.now()
    for (const [index, row] of rows.entries()) {
      const isLate = performance.now() - begun > LANE_MS
      const goesOn = !isEnding && (index === 0 || !(isLate || lanes.isFailing(row.targetId)))
      const told = index === 0 ? joined : []
      const one = goesOn ? await attempt(row, target, eventOf(row), index === 0 ? more : 0) : { row }
      const both = [one, ...told.map((other) => likewise(other, one))]
      ended.push(...both.map((each) => ({ ...each, sealedUrl })))
    }
  }

  return {
    open,
    /** Deliveries that ended, until `forget`. */
    ended: (): readonly Ended[] => [...ended],
    forget(count: number): void {
      ended.splice(0, count)
    },
    /** Begins to send. */
    async start(leased: readonly Leased[]): Promise<void> {
      const read = async () => {
        const led = await lead(leased)
        return { led, eventOf: await readEvents(led.flatMap(({ rows }) => rows)) }
      }
      const { led, eventOf } = await read().catch((error: unknown) => {
        for (const { lane, count, rows, joined } of leased) {
          ended.push(...[...rows, ...joined].map((row) => ({ row })))
          lanes.release(lane, count)
        }
        throw error
      })
      for (const { lane, count, target, rows, joined, more } of led) {
        const opened = open(target)
        for (let index = 0; index < count; index++) {
          const own = rows.filter((_, position) => position % count === index)
          const driving = drive(own, index === 0 ? { joined, more } : ALONE, opened, target.sealedUrl, eventOf).finally(
            () => {
              lanes.release(lane)
              running.delete(driving)
              freed()
            },
          )
          running.add(driving)
        }
      }
    },
    /** Begins nothing more, and resolves when nothing is under way. */
    async end(): Promise<void> {
      isEnding = true
      await settledWithin(Promise.all(running), LAST_REQUESTS_MS)
      aborted.abort()
      await Promise.all(running)
    },
  }
}

/** Ends a delivery that was told with another one as that one ended. It is not given up with it, nor where that one had nothing to tell. */
function likewise(row: DeliveryRow, { tried }: Ended): Ended {
  if (!tried || tried.state === 'failed') return { row }
  const firstAt = row.firstAt ?? tried.triedAt
  return { row, tried: { ...tried, id: row.id, attempts: row.attempts + 1, firstAt } }
}
