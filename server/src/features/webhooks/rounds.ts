/**
 * Rounds of sending. Each stores what deliveries became, turns new events into deliveries, and leases those that are due, in one transaction. What a
 * killed host was sending is sent again when its lease ends: receivers get everything at least once.
 */

import type { Instant } from '@claimcheck/core/rules'
import { newId } from '../../base/ids.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { DeliveryFault, DeliveryRow, WebhookTargetRow } from '../../storage/webhooks.ts'
import { createDriving, type DrivingParts, type Ended, type Leased } from './driving.ts'
import { kindOf } from './kinds.ts'
import { createLanes, LANES_OF_TARGET, type Lane } from './lanes.ts'
import { likenessOf } from './likeness.ts'
import { MOST_EVENTS, type Plan, planDeliveries } from './planning.ts'
import { dueAfter, LIKE_MS, LONGEST_QUIET_MS } from './schedule.ts'
import { switchedOff } from './webhooks.ts'

/** The outcomes of a try. */
export const OUTCOMES = ['delivered', 'postponed', 'failed'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** The time for which a host has a delivery to itself, longer than a lane takes for all that it gets. */
const LEASE_MS = 30_000
/** Faults of one delivery, which say nothing of its receiver. */
const NOT_THE_RECEIVER: ReadonlySet<DeliveryFault> = new Set(['expired', 'unreadable', 'rejected'])
/** The most deliveries that one round leases to be told with others: claims wait for its transaction on SQLite. */
const MOST_JOINED = 1000
/** Deliveries that a lane gets at once; of a failing target, one. */
const LOAD = 5

interface RoundParts extends DrivingParts {
  readonly storage: Pick<Storage, 'read' | 'write'>
}

/** A target for which lanes were taken. */
interface Reserved {
  readonly lane: Lane
  readonly count: number
}

type Targets = Map<string, WebhookTargetRow>

export type Rounds = ReturnType<typeof createRounds>

/** @param freed called when a round has more to do */
export function createRounds(parts: RoundParts, count: (outcome: Outcome) => void, freed: () => void) {
  const { storage, now, logger } = parts
  const { read } = storage
  const lanes = createLanes()
  const driving = createDriving(parts, lanes, freed)

  /** Switches a target off that is gone, or where a delivery was given up and no other one arrived meanwhile. */
  async function switchOffIfLost(tx: Writes, { tried }: Ended, target: WebhookTargetRow): Promise<WebhookTargetRow> {
    if (!tried || tried.state === 'delivered' || target.state !== 'on' || NOT_THE_RECEIVER.has(tried.fault!))
      return target
    const isGone = tried.fault === 'gone'
    const isLost = tried.state === 'failed' && (target.lastDeliveredAt ?? 0) < tried.firstAt!
    if (!isGone && !isLost) return target
    const off = switchedOff(tx, target, isGone ? 'gone' : 'failing', now())
    await tx.webhooks.changeTarget(off)
    logger.warn({ webhookId: off.id, reason: off.offReason }, 'a webhook is switched off')
    return off
  }

  async function store(tx: Writes, all: readonly Ended[], targets: Targets): Promise<void> {
    const at = now()
    const ended = all.map((one) => (isOfFormerAddress(one, targets.get(one.row.targetId)) ? { row: one.row } : one))
    await tx.webhooks.store(ended.flatMap(({ row, tried }) => (tried ? { ...tried, lease: row.leasedUntil } : [])))
    await tx.webhooks.release(ended.flatMap(({ row, tried }) => (tried ? [] : row)))
    const arrived = new Set(ended.flatMap(({ row, tried }) => (tried?.state === 'delivered' ? [row.targetId] : [])))
    if (arrived.size > 0) await tx.webhooks.delivered([...arrived], at)
    for (const id of arrived) update(targets, id, { lastDeliveredAt: at })
    for (const one of ended) {
      const target = targets.get(one.row.targetId)
      if (!target) continue
      targets.set(target.id, await switchOffIfLost(tx, one, target))
      if (one.retryAfterMs === undefined) continue
      // Tries that were under way tell less than the longest time that was asked for.
      const { quietUntil: before } = targets.get(target.id)!
      const quietUntil = Math.max(before ?? 0, at + Math.min(one.retryAfterMs, LONGEST_QUIET_MS))
      await tx.webhooks.keepQuiet(target.id, quietUntil)
      update(targets, target.id, { quietUntil })
    }
  }

  /** Finds what the events of a plan are like, and when each is told: an hour after one like it. */
  async function withLikeness(tx: Writes, { events, traits }: Plan, target: WebhookTargetRow, at: Instant) {
    const key = kindOf(target.format).gathers ? driving.open(target)?.secrets[0] : undefined
    const likenesses = events.map(({ type, subject }) => {
      // Events of agents name a claim, too, and are no decisions of it.
      const claim = type === 'claim.decided' ? traits.get(subject) : undefined
      return key !== undefined && claim ? likenessOf(key, claim) : null
    })
    const known = likenesses.filter((likeness) => likeness !== null)
    const last =
      known.length > 0 ? await tx.webhooks.lastDue(target.id, known, at - LIKE_MS) : new Map<string, Instant>()
    return events.map((event, index) => {
      const likeness = likenesses[index]!
      const dueAt = dueAfter(likeness === null ? undefined : last.get(likeness), at)
      if (likeness !== null) last.set(likeness, dueAt)
      return { event, likeness, dueAt }
    })
  }

  /** Stores the deliveries of a plan, unless another host was faster or the target is off. */
  async function insert(tx: Writes, plan: Plan, targets: Targets): Promise<void> {
    const { targetId, from, to } = plan
    const target = targets.get(targetId)
    if (target?.state !== 'on' || target.reached !== from) return
    const at = now()
    const timed = await withLikeness(tx, plan, target, at)
    const rows = timed.map(({ event: { workspaceId, number, type, subject }, likeness, dueAt }): DeliveryRow => {
      const last = { firstAt: null, leasedUntil: null, triedAt: null, status: null, durationMs: null, fault: null }
      const event = { workspaceId, targetId, eventNumber: number, type, subject, likeness }
      return { id: newId('msg_', at), ...event, state: 'waiting', attempts: 0, dueAt, createdAt: at, ...last }
    })
    await tx.webhooks.insertDeliveries(rows)
    await tx.webhooks.reach(targetId, to)
  }

  async function lease(tx: Writes, { lane, count }: Reserved, targets: Targets, mostJoined: number): Promise<Leased[]> {
    const target = targets.get(lane.targetId)
    const at = now()
    if (!target || !mayLease(target, at, mostJoined)) return []
    const { gapMs, gathers } = kindOf(target.format)
    const most = lanes.isFailing(target.id) || gapMs > 0 ? 1 : count * LOAD
    const rows = await tx.webhooks.lease(target.id, at, at + LEASE_MS, most)
    // The locked row keeps the gap for all hosts.
    if (rows.length > 0 && gapMs > 0) await tx.webhooks.keepQuiet(target.id, at + gapMs)
    const [first] = rows
    if (!first) return []
    const joined = gathers ? await tx.webhooks.leaseLike(first, at, mostJoined) : []
    return [{ lane, count: Math.min(count, rows.length), target, rows, joined }]
  }

  /** Takes lanes for targets that have something to send, those of payers first who have few. */
  async function reserve(
    targets: readonly Pick<WebhookTargetRow, 'id' | 'workspaceId' | 'format'>[],
  ): Promise<readonly Reserved[]> {
    const payers = await read.webhooks.payers([...new Set(targets.map(({ workspaceId }) => workspaceId))])
    return targets
      .map(({ id, workspaceId, format }): Lane => {
        const isSingle = kindOf(format).gapMs > 0
        return { targetId: id, payer: payers.get(workspaceId) ?? workspaceId, isSingle }
      })
      .toSorted(lanes.compare)
      .map((lane) => ({ lane, count: lanes.takeAll(lane) }))
      .filter(({ count }) => count > 0)
  }

  function release(reserved: readonly Reserved[], leased: readonly Leased[] = []): void {
    for (const { lane, count } of reserved) {
      const used = leased.find((one) => one.lane === lane)?.count ?? 0
      lanes.release(lane, count - used)
    }
  }

  /** Plans deliveries, and takes lanes for what is due then. */
  async function prepare(isBraked: boolean) {
    const [{ plans, isMore }, due] = await Promise.all([
      planDeliveries(read, isBraked ? LANES_OF_TARGET * LOAD : MOST_EVENTS),
      read.webhooks.due(now()),
    ])
    const planned = plans.filter(({ events, targetId }) => events.length > 0 && due.every(({ id }) => id !== targetId))
    const reserved = await reserve([...due, ...planned.map(({ targetId: id, ...plan }) => ({ ...plan, id }))])
    return { plans, isMore, reserved }
  }

  async function commit(ended: readonly Ended[], plans: readonly Plan[], reserved: readonly Reserved[]) {
    return storage.write(async (tx) => {
      const ids = [
        ...ended.map(({ row }) => row.targetId),
        ...plans.map(({ targetId }) => targetId),
        ...reserved.map(({ lane }) => lane.targetId),
      ]
      const targets: Targets = new Map((await tx.webhooks.lock([...new Set(ids)])).map((row) => [row.id, row]))
      await store(tx, ended, targets)
      for (const plan of plans) await insert(tx, plan, targets)
      const leased: Leased[] = []
      let room = MOST_JOINED
      for (const one of reserved) {
        const its = await lease(tx, one, targets, room)
        room -= countOf(its.map(({ joined }) => joined))
        leased.push(...its)
      }
      return leased
    })
  }

  return {
    /**
     * Runs one round, and begins to send.
     * @param isBraked makes no more deliveries than are sent at once
     * @returns how many deliveries it made or began, and whether there are more events to turn into deliveries
     */
    async run(isBraked = false): Promise<{ readonly deliveries: number; readonly isMore: boolean }> {
      const { plans, isMore, reserved } = await prepare(isBraked)
      const ended = driving.ended()
      if (ended.length + plans.length + reserved.length === 0) return { deliveries: 0, isMore: false }
      let leased: readonly Leased[] = []
      try {
        leased = await commit(ended, plans, reserved)
      } finally {
        release(reserved, leased)
      }
      driving.forget(ended.length)
      for (const { tried } of ended) if (tried) count(tried.state === 'waiting' ? 'postponed' : tried.state)
      if (leased.length > 0) await driving.start(leased)
      const [made, begun] = [countOf(plans.map(({ events }) => events)), countOf(leased.map(({ rows }) => rows))]
      return { deliveries: Math.max(made, begun), isMore }
    },
    /** Ends what is under way, and stores it. */
    async end(): Promise<void> {
      await driving.end()
      if (driving.ended().length > 0) await commit(driving.ended(), [], [])
    },
  }
}

/** Tells whether a target may get messages now. One whose messages gather others waits for a round with room for them. */
function mayLease({ state, quietUntil, format }: WebhookTargetRow, at: Instant, mostJoined: number): boolean {
  return state === 'on' && (quietUntil ?? 0) <= at && (mostJoined > 0 || !kindOf(format).gathers)
}

/** Tells whether a try failed at an address that the target had before: it says nothing of the new one, and counts for none. */
function isOfFormerAddress({ tried, sealedUrl }: Ended, target: WebhookTargetRow | undefined): boolean {
  return tried !== undefined && tried.state !== 'delivered' && target !== undefined && target.sealedUrl !== sealedUrl
}

function countOf(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((sum, { length }) => sum + length, 0)
}

function update(targets: Targets, id: string, changes: Partial<WebhookTargetRow>): void {
  const target = targets.get(id)
  if (target) targets.set(id, { ...target, ...changes })
}
