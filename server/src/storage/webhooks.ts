/**
 * Webhooks as rows: the targets of workspaces, and the deliveries of their events. A delivery has ids alone, and what it sends is read when it is sent:
 * so erasure reaches it.
 */
import type { Instant, VerdictValue } from '@claimcheck/core/rules'
import type { Payer } from '../base/payers.ts'
import { claims } from './claim-row.ts'
import type { Db } from './db.ts'
import { type EventRow, type EventType, events } from './events.ts'
import { payerOfWorkspace } from './payers.ts'
import { insertRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import {
  assignments,
  bigint,
  extended,
  instant,
  integer,
  json,
  nullable,
  part,
  qualified,
  type RowOf,
  table,
  text,
} from './table.ts'

/** The events that a target gets. An empty list is no restriction; all lists but `types` restrict only the events that have such a member. */
export interface WebhookFilters {
  readonly types: readonly EventType[]
  readonly verdicts: readonly VerdictValue[]
  readonly actions: readonly string[]
  readonly agents: readonly string[]
  /** Ids of connections: of the one that failed, or through which the claim was read. */
  readonly connections: readonly string[]
}

export const NO_FILTERS: WebhookFilters = { types: [], verdicts: [], actions: [], agents: [], connections: [] }

/** The forms that receivers take. `standard`: by Standard Webhooks; the others are of chat services. */
export const WEBHOOK_FORMATS = ['standard', 'slack', 'discord', 'mattermost', 'teams'] as const
/** The forms in which code hosts take reports on commits: statuses by a token, or check runs by a GitHub App. */
export const REPORT_FORMATS = ['github', 'github_app', 'gitlab', 'gitea'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number] | ReportFormat

/** The grant of a target that reports on commits. */
export interface ReportGrant {
  /** The repositories that get reports, by the paths that their owner typed. */
  readonly repositories: readonly string[]
  /** The identifier of who posts the reports, as connections name it. */
  readonly reporter: string
  /** True if pull requests get a comment, too. */
  readonly comments: boolean
  /** The GitHub App that reports; null for a token. */
  readonly app: { readonly id: string; readonly installation: string } | null
}

/** `gone`: the receiver answered 410, or as its service says that an address takes nothing more. `failing`: a delivery failed for three days, in which no other one arrived. */
export type OffReason = 'owner' | 'gone' | 'failing'

export const webhookTargets = table('webhook_targets', ['id'], {
  id: text('id'),
  workspaceId: text('workspace_id'),
  format: text<WebhookFormat>('format'),
  /** The origin of the URL, which is no secret. */
  origin: text('origin'),
  /** The sealed URL; null for a removed target, as the secrets. */
  sealedUrl: nullable(text('sealed_url')),
  sealedSecret: nullable(text('sealed_secret')),
  /** The sealed secret before the last rotation, by which deliveries are signed, too, until `formerUntil`. */
  sealedFormer: nullable(text('sealed_former')),
  formerUntil: nullable(instant('former_until')),
  filters: json<WebhookFilters>('filters'),
  /** Removed targets stay as long as their deliveries. */
  state: text<'on' | 'off' | 'removed'>('state'),
  offReason: nullable(text<OffReason>('off_reason')),
  stateAt: instant('state_at'),
  /** The grant of a target that reports on commits; null for other targets. */
  report: nullable(json<ReportGrant>('report')),
  /** The number of the last event that was turned into a delivery, or passed over. */
  reached: bigint('reached'),
  /** The time before which the receiver asked not to be called. */
  quietUntil: nullable(instant('quiet_until')),
  lastDeliveredAt: nullable(instant('last_delivered_at')),
  createdBy: nullable(text('created_by')),
  createdAt: instant('created_at'),
})

export type WebhookTargetRow = RowOf<typeof webhookTargets>

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/**
 * The kinds of faults of a try. `unreachable`: also an address that may not be reached. `status`: any other status than 200 to 299. `rejected`: the
 * service never takes this message. `expired`: the event is no longer stored. `unreadable`: the secret key that sealed the target is missing.
 */
export const DELIVERY_FAULTS = [
  'unreachable',
  'timeout',
  'bad_answer',
  'redirect',
  'status',
  'gone',
  'rejected',
  'expired',
  'removed',
  'unreadable',
] as const
export type DeliveryFault = (typeof DELIVERY_FAULTS)[number]

export const webhookDeliveries = table('webhook_deliveries', ['id'], {
  /** The `webhook-id` of every try. It begins with the time. */
  id: text('id'),
  workspaceId: text('workspace_id'),
  targetId: text('target_id'),
  eventNumber: bigint('event_number'),
  type: text<EventType>('type'),
  /** The subject of the event: a delivery waits for the earlier ones of its subject to its target. */
  subject: text('subject'),
  /** A keyed hash of what makes the event like others, which are told in one message; null where each is told. */
  likeness: nullable(text('likeness')),
  state: text<DeliveryState>('state'),
  attempts: integer('attempts'),
  /** The first try since the delivery was made, sent again or switched on: retries end some time after it. */
  firstAt: nullable(instant('first_at')),
  dueAt: instant('due_at'),
  /** The time until which a host has the delivery to itself. */
  leasedUntil: nullable(instant('leased_until')),
  /** The members of the last try; null before the first. */
  triedAt: nullable(instant('tried_at')),
  status: nullable(integer('status')),
  durationMs: nullable(integer('duration_ms')),
  fault: nullable(text<DeliveryFault>('fault')),
  createdAt: instant('created_at'),
})

export type DeliveryRow = RowOf<typeof webhookDeliveries>

/** The columns that a try changes. */
const tried = part(
  webhookDeliveries,
  'id',
  'state',
  'attempts',
  'firstAt',
  'dueAt',
  'leasedUntil',
  'triedAt',
  'status',
  'durationMs',
  'fault',
)
export type TriedDelivery = RowOf<typeof tried>

/** A delivery that its host gives back, with the lease that it had. */
const returned = part(webhookDeliveries, 'id', 'leasedUntil')
const lease = { lease: nullable(bigint('lease')) }
const triedByLease = extended(tried, lease)

/** The members of a claim that filters need. */
const claimTraits = part(claims, 'claimId', 'verdict', 'action', 'profileAction', 'agentId', 'connectionId', 'target')
export type ClaimTraits = RowOf<typeof claimTraits>

/** The members of a claim that reports need. */
const reportedClaim = part(
  claims,
  'claimId',
  'agentId',
  'profileAction',
  'params',
  'verdict',
  'reasonCode',
  'receiptId',
  'submittedAt',
)
export type ReportedClaim = RowOf<typeof reportedClaim>

/** The deliveries of a target among which reports look for later claims. */
const MOST_REPORTED = 1000

const eventKeys = part(events, 'workspaceId', 'number')

export interface DeliveryFilter {
  readonly limit: number
  /** The place in the list after which to go on. */
  readonly after?: Pick<DeliveryRow, 'eventNumber' | 'targetId'>
  readonly targetId?: string
  readonly state?: DeliveryState
}

/** Events of agents, which name one of their claims as the subject, and tell nothing of it: they wait for none of it, and none for them. */
const OF_AGENTS = `('agent.silent', 'rate.jumped')`

/** The condition that no delivery of the same subject waits before this one. */
const FIRST_OF_SUBJECT = `(webhook_deliveries.type IN ${OF_AGENTS} OR NOT EXISTS (
  SELECT 1 FROM webhook_deliveries AS earlier WHERE earlier.target_id = webhook_deliveries.target_id
    AND earlier.subject = webhook_deliveries.subject AND earlier.state = 'waiting' AND earlier.type NOT IN ${OF_AGENTS}
    AND earlier.event_number < webhook_deliveries.event_number))`

/** The condition that a delivery may be sent now: it is due, no host has it, and none of its subject waits before it. */
const SENDABLE = `state = 'waiting' AND due_at <= ? AND (leased_until IS NULL OR leased_until <= ?) AND ${FIRST_OF_SUBJECT}`

const STATES = DELIVERY_STATES.map((state) => `'${state}'`).join(', ')

/** The most deliveries that wait at a target. Further events wait in their list, and cost nothing. */
const MOST_WAITING = 10_000

const LAST_NUMBER = Number.MAX_SAFE_INTEGER

export function webhookReads(db: Db) {
  const { texts } = db.dialect
  const targets = (rest: string, bindings: readonly (string | number)[] = []) =>
    selectRows(db, webhookTargets, rest, bindings)

  return {
    /** Lists the targets of workspaces that are not removed, oldest first. @param workspaceId undefined for all */
    async targets(workspaceId?: string): Promise<WebhookTargetRow[]> {
      if (workspaceId === undefined) return targets(`WHERE state <> 'removed' ORDER BY workspace_id, created_at, id`)
      return targets(`WHERE workspace_id = ? AND state <> 'removed' ORDER BY created_at, id`, [workspaceId])
    },
    async target(id: string): Promise<WebhookTargetRow | undefined> {
      return (await targets(`WHERE id = ? AND state <> 'removed'`, [id]))[0]
    },
    /** Lists the workspaces that have a target which is on. */
    async workspaces(): Promise<string[]> {
      const rows = await db.query(`SELECT DISTINCT workspace_id FROM webhook_targets WHERE state = 'on'`)
      return rows.map((row) => String(row.workspace_id))
    },
    /** Picks targets for which there are events that were not turned into deliveries. None goes first, so that none waits for busier ones. */
    async behind(limit: number): Promise<WebhookTargetRow[]> {
      return targets(
        `WHERE state = 'on' AND reached < (
          SELECT last_number FROM event_heads WHERE event_heads.workspace_id = webhook_targets.workspace_id)
          AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE target_id = webhook_targets.id AND state = 'waiting'
            ORDER BY due_at LIMIT 1 OFFSET ${MOST_WAITING})
        ORDER BY random() LIMIT ?`,
        [limit],
      )
    },
    /** Finds who pays for each of these workspaces. */
    async payers(workspaceIds: readonly string[]): Promise<ReadonlyMap<string, Payer>> {
      const sql = `SELECT id, ${payerOfWorkspace('workspaces.id')} AS payer FROM workspaces WHERE id IN ${texts}`
      const rows = await db.query(sql, [JSON.stringify(workspaceIds)])
      return new Map(rows.map(({ id, payer }) => [String(id), String(payer)]))
    },
    /** Lists targets that have something to send now. */
    async due(now: Instant): Promise<WebhookTargetRow[]> {
      return targets(
        `WHERE state = 'on' AND (quiet_until IS NULL OR quiet_until <= ?) AND EXISTS (
          SELECT 1 FROM webhook_deliveries WHERE target_id = webhook_targets.id AND ${SENDABLE})`,
        [now, now, now],
      )
    },
    /** Reads what filters need of these claims. */
    async claimTraits(claimIds: readonly string[]): Promise<ReadonlyMap<string, ClaimTraits>> {
      const rows = await selectRows(db, claimTraits, `WHERE claim_id IN ${texts}`, [JSON.stringify(claimIds)])
      return new Map(rows.map((row) => [row.claimId, row]))
    },
    /** Reads a claim, and those about the same repository that a target was told of lately. */
    async reported(targetId: string, claimId: string, repository: string): Promise<ReportedClaim[]> {
      const told = `SELECT subject FROM webhook_deliveries WHERE target_id = ? ORDER BY event_number DESC LIMIT ${MOST_REPORTED}`
      const rest = `WHERE (claim_id = ? OR claim_id IN (SELECT subject FROM (${told}) AS told)) AND lower(target) = lower(?)`
      return selectRows(db, reportedClaim, rest, [claimId, targetId, repository])
    },
    /** Reads those of these events that are still stored. */
    async events(keys: readonly Pick<EventRow, 'workspaceId' | 'number'>[]): Promise<EventRow[]> {
      const sql = `SELECT ${qualified(events)} FROM events JOIN ${rowsOf(db.dialect, eventKeys)} AS asked
        ON asked.workspace_id = events.workspace_id AND asked.number = events.number`
      return (await db.query(sql, [toJson(eventKeys, keys)])).map(events.read)
    },
    /** Lists the deliveries of a workspace, newest event first. */
    async deliveries(workspaceId: string, filter: DeliveryFilter): Promise<DeliveryRow[]> {
      const { limit, after = { eventNumber: LAST_NUMBER, targetId: '' }, targetId, state } = filter
      const conditions = [
        'workspace_id = ? AND (event_number, target_id) < (CAST(? AS bigint), ?)',
        ...(targetId === undefined ? [] : ['target_id = ?']),
        // The states are written out: an index of few rows serves those that are not delivered.
        ...(state === undefined ? [] : [`state = '${state}'`]),
      ]
      const rest = `WHERE ${conditions.join(' AND ')} ORDER BY event_number DESC, target_id DESC LIMIT ?`
      const of = targetId === undefined ? [] : [targetId]
      return selectRows(db, webhookDeliveries, rest, [workspaceId, after.eventNumber, after.targetId, ...of, limit])
    },
    async delivery(workspaceId: string, id: string): Promise<DeliveryRow | undefined> {
      return selectRow(db, webhookDeliveries, 'WHERE id = ? AND workspace_id = ?', [id, workspaceId])
    },
    /** Counts the waiting deliveries of targets that are not removed, and tells since when the oldest is due that waits for no other one, of those that are on and asked for no time. */
    async waiting(now: Instant): Promise<{ readonly count: number; readonly since: Instant | null }> {
      const [row] = await db.query(
        `SELECT COUNT(*) AS count,
        MIN(CASE WHEN webhook_targets.state = 'on' AND COALESCE(quiet_until, 0) <= ? AND ${FIRST_OF_SUBJECT}
          THEN due_at END) AS since FROM webhook_deliveries
        JOIN webhook_targets ON webhook_targets.id = target_id
        WHERE webhook_deliveries.state = 'waiting' AND webhook_targets.state <> 'removed'`,
        [now],
      )
      return { count: Number(row!.count), since: row!.since === null ? null : Number(row!.since) }
    },
    /**
     * Finds when the last delivery of each of these likenesses is or was due at a target, of those that are due after a time. One that is tried again
     * counts from its last try: the time of the next one says nothing of others.
     */
    async lastDue(targetId: string, likenesses: readonly string[], after: Instant): Promise<Map<string, Instant>> {
      // The states are written out for the index, which has them before the time.
      const sql = `SELECT likeness, MAX(CASE WHEN state = 'waiting' AND tried_at IS NOT NULL THEN tried_at ELSE due_at END) AS due_at
        FROM webhook_deliveries
        WHERE target_id = ? AND likeness IN ${texts} AND state IN (${STATES}) AND due_at > ? GROUP BY likeness`
      const rows = await db.query(sql, [targetId, JSON.stringify(likenesses), after])
      return new Map(rows.map((row) => [String(row.likeness), Number(row.due_at)]))
    },
    /** Counts the waiting deliveries of each of these targets that has any. */
    async waitingAt(targetIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const sql = `SELECT target_id, COUNT(*) AS count FROM webhook_deliveries
        WHERE target_id IN ${texts} AND state = 'waiting' GROUP BY target_id`
      const rows = await db.query(sql, [JSON.stringify(targetIds)])
      return new Map(rows.map((row) => [String(row.target_id), Number(row.count)]))
    },
  }
}

export function webhookWrites(db: Db) {
  const { texts, forUpdate, forUpdateSkipLocked } = db.dialect
  const updateTarget = (id: string, changes: Readonly<Record<string, string | number | null>>) =>
    db.table(webhookTargets.name).where({ id }).update(changes)

  return {
    ...webhookReads(db),
    /** Locks targets until the transaction ends, all in one order. Removed ones are not among the rows. */
    async lock(ids: readonly string[]): Promise<WebhookTargetRow[]> {
      const rest = `WHERE id IN ${texts} AND state <> 'removed' ORDER BY id ${forUpdate}`
      return selectRows(db, webhookTargets, rest, [JSON.stringify(ids)])
    },
    async insertTarget(row: WebhookTargetRow): Promise<void> {
      await insertRows(db, webhookTargets, [row])
    },
    /** Replaces the row of a locked target. */
    async changeTarget(row: WebhookTargetRow): Promise<void> {
      const rows = rowsOf(db.dialect, webhookTargets)
      const sql = `UPDATE webhook_targets SET ${assignments(webhookTargets, 'new')} FROM ${rows} AS new WHERE webhook_targets.id = new.id`
      await db.query(sql, [toJson(webhookTargets, [row])])
    },
    /** Removes targets: their URLs and secrets go at once, and nothing more is sent. `endRemoved` ends what waits. */
    async removeTargets(ids: readonly string[], at: Instant): Promise<void> {
      const these = JSON.stringify(ids)
      await db.query(`SELECT id FROM webhook_targets WHERE id IN ${texts} ORDER BY id ${forUpdate}`, [these])
      await db.query(
        `UPDATE webhook_targets SET state = 'removed', state_at = ?, sealed_url = NULL, sealed_secret = NULL,
          sealed_former = NULL, former_until = NULL, filters = ? WHERE id IN ${texts}`,
        [at, JSON.stringify(NO_FILTERS), these],
      )
    },
    /** Ends waiting deliveries of removed targets, at most so many that it is done soon. Returns how many. */
    async endRemoved(limit: number): Promise<number> {
      const some = `SELECT webhook_deliveries.id FROM webhook_targets JOIN webhook_deliveries ON target_id = webhook_targets.id
        WHERE webhook_targets.state = 'removed' AND webhook_deliveries.state = 'waiting' LIMIT ?`
      const sql = `UPDATE webhook_deliveries SET state = 'failed', fault = 'removed', leased_until = NULL
        WHERE id IN (${some}) AND state = 'waiting' RETURNING id`
      return (await db.query(sql, [limit])).length
    },
    /** Notes up to which event a locked target has deliveries. */
    async reach(id: string, number: number): Promise<void> {
      await updateTarget(id, { reached: number })
    },
    async keepQuiet(id: string, until: Instant): Promise<void> {
      await updateTarget(id, { quiet_until: until })
    },
    async delivered(ids: readonly string[], at: Instant): Promise<void> {
      const sql = `UPDATE webhook_targets SET last_delivered_at = ? WHERE id IN ${texts}`
      await db.query(sql, [at, JSON.stringify(ids)])
    },
    async insertDeliveries(rows: readonly DeliveryRow[]): Promise<void> {
      await insertRows(db, webhookDeliveries, rows)
    },
    /** Hands out deliveries of a target, at most one of each subject, the longest due first. No other host gets them before the lease ends. */
    async lease(targetId: string, now: Instant, leaseEnd: Instant, limit: number): Promise<DeliveryRow[]> {
      const some = `SELECT id FROM webhook_deliveries WHERE target_id = ? AND ${SENDABLE} ORDER BY due_at, event_number LIMIT ? ${forUpdateSkipLocked}`
      const sql = `UPDATE webhook_deliveries SET leased_until = ? WHERE id IN (${some}) RETURNING ${webhookDeliveries.names}`
      return (await db.query(sql, [leaseEnd, targetId, now, now, limit])).map(webhookDeliveries.read)
    },
    /** Leases deliveries that are like a leased one and due as well, for the same time. */
    async leaseLike(leased: DeliveryRow, now: Instant, limit: number): Promise<DeliveryRow[]> {
      const { id, targetId, likeness, leasedUntil } = leased
      if (likeness === null) return []
      const some = `SELECT id FROM webhook_deliveries WHERE target_id = ? AND likeness = ? AND id <> ? AND ${SENDABLE}
        ORDER BY due_at, event_number LIMIT ? ${forUpdateSkipLocked}`
      const sql = `UPDATE webhook_deliveries SET leased_until = ? WHERE id IN (${some}) RETURNING ${webhookDeliveries.names}`
      return (await db.query(sql, [leasedUntil, targetId, likeness, id, now, now, limit])).map(webhookDeliveries.read)
    },
    /**
     * Stores the outcomes of tries. A delivery that arrived by another try, or whose target was removed, stays as it is, and one that another host has
     * by now, unless it arrived.
     */
    async store(rows: readonly RowOf<typeof triedByLease>[]): Promise<void> {
      const sql = `UPDATE webhook_deliveries SET ${assignments(tried, 'new')} FROM ${rowsOf(db.dialect, triedByLease)} AS new
        WHERE webhook_deliveries.id = new.id AND webhook_deliveries.state = 'waiting'
          AND (new.state = 'delivered' OR webhook_deliveries.leased_until = new.lease)`
      if (rows.length > 0) await db.query(sql, [toJson(triedByLease, rows)])
    },
    /** Gives leased deliveries back that were not sent, unless another host has them by now. */
    async release(rows: readonly RowOf<typeof returned>[]): Promise<void> {
      const sql = `UPDATE webhook_deliveries SET leased_until = NULL FROM ${rowsOf(db.dialect, returned)} AS had
        WHERE webhook_deliveries.id = had.id AND webhook_deliveries.leased_until = had.leased_until AND state = 'waiting'`
      if (rows.length > 0) await db.query(sql, [toJson(returned, rows)])
    },
    /** Has a delivery sent now, with retries from the beginning. One that a host is sending stays as it is. */
    async sendAgain(id: string, now: Instant): Promise<void> {
      const sql = `UPDATE webhook_deliveries SET state = 'waiting', due_at = ?, first_at = NULL
        WHERE id = ? AND (state <> 'waiting' OR leased_until IS NULL OR leased_until <= ?)`
      await db.query(sql, [now, id, now])
    },
    /** Has all waiting deliveries of a target sent now, with retries from the beginning. */
    async sendWaiting(targetId: string, now: Instant): Promise<void> {
      const sql = `UPDATE webhook_deliveries SET due_at = ?, first_at = NULL WHERE target_id = ? AND state = 'waiting'`
      await db.query(sql, [now, targetId])
    },
    /** Forgets secrets that were replaced and no longer sign. */
    async forgetFormer(now: Instant): Promise<void> {
      const sql = 'UPDATE webhook_targets SET sealed_former = NULL, former_until = NULL WHERE former_until <= ?'
      await db.query(sql, [now])
    },
    /** Removes deliveries with ids before this one, the oldest first, and removed targets without any. Returns how many deliveries were removed. */
    async removeBefore(id: string, limit: number): Promise<number> {
      const some = `SELECT id FROM webhook_deliveries WHERE id < ? ORDER BY id LIMIT ? ${forUpdateSkipLocked}`
      const removed = await db.query(`DELETE FROM webhook_deliveries WHERE id IN (${some}) RETURNING id`, [id, limit])
      if (removed.length < limit)
        await db.query(`DELETE FROM webhook_targets WHERE state = 'removed' AND NOT EXISTS (
          SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.workspace_id = webhook_targets.workspace_id
            AND target_id = webhook_targets.id)`)
      return removed.length
    },
  }
}
