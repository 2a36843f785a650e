/** Claims and their checks as rows; the queue is the claims' own `due_at`. */
import type { CheckRecord, Instant } from '@claimcheck/core/rules'
import { type ClaimPosition, type ClaimQuery, type ClaimScope, conditionOf, position } from './claim-query.ts'
import {
  type ClaimIdentity,
  type ClaimRow,
  checks,
  claims,
  clientIdLeft,
  clientIds,
  content,
  type ErasedContent,
  keepChecks,
  mayBeStored,
  type NewClaim,
  newClaims,
  RECEIPT_OF_CLAIM,
  storedClaims,
  UNDECIDED,
} from './claim-row.ts'
import type { Db } from './db.ts'
import type { ErasureRow } from './erasures.ts'
import { OPEN_LOG_ID } from './log-state.ts'
import { countRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import { assignments, bigint, extended, instant, nullable, part, type RowOf, text } from './table.ts'

const count = bigint('count')
/** The number of a period since the Unix epoch. */
const bucket = bigint('bucket')

const counts = extended(part(claims, 'verdict'), { bucket, count, removed: bigint('removed') })
const actionCounts = extended(part(claims, 'action', 'verdict'), { count })
const agentCounts = extended(part(claims, 'agentId', 'verdict'), { count, newest: text('newest') })
const waitingCounts = extended(part(claims, 'profileAction', 'profileVersion'), {
  provider: nullable(text('provider')),
  count,
  until: instant('until'),
})
const queuedCounts = extended(part(claims, 'payer', 'workspaceId'), { count })
const lastChecks = part(claims, 'lastCheck')
const submitters = part(claims, 'submittedBy')
const lastClaims = part(claims, 'agentId', 'submittedAt', 'claimId')
const dueClaims = extended(part(claims, 'claimId', 'target', 'deadlineAt'), { lane: text('lane') })

/**
 * A count of the claims of one verdict that were submitted within one period, and of those among them that ended because their connection was
 * removed.
 */
export type ClaimCount = RowOf<typeof counts>

/** A count of the claims of one action with one verdict. */
export type ActionCount = RowOf<typeof actionCounts>

/** A count of the claims of one agent with one verdict, and the newest of them. */
export type AgentCount = RowOf<typeof agentCounts>

/** A count of the claims that wait under one version of a profile, read through one provider or without a connection, and their latest deadline. */
export type WaitingCount = RowOf<typeof waitingCounts>

export type QueuedCount = RowOf<typeof queuedCounts>

/** An agent, and the position of its newest claim. */
export type LastClaim = RowOf<typeof lastClaims>

/** A claim's place in the queue. */
export type DueClaim = RowOf<typeof dueClaims>

/**
 * Names a claim's lane. Claims of one lane hold each other up: one submitter's, through one connection or none, at one origin. The parts are ids,
 * without spaces.
 */
export function laneOf(claim: Lane): string {
  return [claim.payer, claim.workspaceId, claim.submittedBy, claim.connectionId ?? '', claim.origin ?? ''].join(' ')
}

export type Lane = Pick<ClaimRow, 'payer' | 'workspaceId' | 'submittedBy' | 'connectionId' | 'origin'>

export function partsOfLane(lane: string): Lane {
  const [payer, workspaceId, submittedBy, connectionId, origin] = lane.split(' ')
  return {
    payer: payer!,
    workspaceId: workspaceId!,
    submittedBy: submittedBy!,
    connectionId: connectionId || null,
    origin: origin || null,
  }
}

// The indexes of the queue have exactly this expression.
const LANE = `payer || ' ' || workspace_id || ' ' || submitted_by || ' ' || COALESCE(connection_id, '') || ' ' || COALESCE(origin, '')`

const BUSY_NAMES = ['payer', `payer || ' ' || COALESCE(origin, '')`, LANE]

/** Makes the names by which busy claims are passed over: of all that one payer pays for, of its claims at one origin, and of the lane alone. */
export function namesOfLane(lane: string) {
  const { payer, origin } = partsOfLane(lane)
  return { payer, destination: `${payer} ${origin ?? ''}`, lane }
}

/**
 * The kinds of due claims: those that a check decides, the earliest moment first; those that no check has read yet, the newest first, because only a
 * look soon after the submission can blame: in a flood, the oldest first would all be too late; and those that a check only looks at again, the
 * longest due first, and apart from the others those that are watched.
 */
export type DueKind = 'deciding' | 'first' | 'watching' | 'looking'

/** The kinds of checks: those of due claims, and those beside the schedule, on a hint. */
export type CheckKind = DueKind | 'hinted'

const DUE: Readonly<Record<DueKind, string>> = {
  deciding: 'moment_at <= ? ORDER BY moment_at, due_at',
  first: '(moment_at > ? OR moment_at IS NULL) AND attempts = 0 ORDER BY due_at DESC',
  watching: '(moment_at > ? OR moment_at IS NULL) AND attempts > 0 AND watched = 1 ORDER BY due_at',
  looking: '(moment_at > ? OR moment_at IS NULL) AND attempts > 0 AND watched = 0 ORDER BY due_at',
}

const NEWEST_FIRST = 'ORDER BY submitted_at DESC, claim_id DESC'

export function claimReads(db: Db) {
  const { texts } = db.dialect
  const narrowed = (query: Omit<ClaimQuery, 'limit'>) => conditionOf(db.dialect, query)

  return {
    ...countReads(db),
    ...queueReads(db),
    async byId(workspaceId: string, claimId: string): Promise<ClaimRow | undefined> {
      return selectRow(db, claims, 'WHERE claim_id = ? AND workspace_id = ?', [claimId, workspaceId])
    },
    /** Finds the stored claim for each client's id, if there is one: also when its content was erased. */
    async byClientIds(ids: readonly ClaimIdentity[]): Promise<(ClaimRow | undefined)[]> {
      const left = ids.map((id) => ({ workspaceId: id.workspaceId, clientClaimId: clientIdLeft(id) }))
      const asked = rowsOf(db.dialect, clientIds)
      const where = `WHERE (${clientIds.names}) IN (SELECT ${clientIds.names} FROM ${asked} AS asked)`
      const rows = await selectRows(db, claims, where, [toJson(clientIds, [...ids, ...left])], { replanned: true })
      const stored = new Map(rows.map((row) => [identityOf(row), row]))
      return ids.map((id, index) => stored.get(identityOf(id)) ?? stored.get(identityOf(left[index]!)))
    },
    async byIds(claimIds: readonly string[]): Promise<ClaimRow[]> {
      return selectRows(db, claims, `WHERE claim_id IN ${texts}`, [JSON.stringify(claimIds)])
    },
    /** Lists claims, newest first. */
    async list({ limit, ...query }: ClaimQuery): Promise<ClaimRow[]> {
      const { condition, bindings } = narrowed(query)
      return selectRows(db, claims, `WHERE ${condition} ${NEWEST_FIRST} LIMIT ?`, [...bindings, limit])
    },
    /** Finds the position of the `count`th claim, oldest first; undefined when there are fewer. */
    async positionFromOldest(query: Omit<ClaimQuery, 'limit'>, count: number): Promise<ClaimPosition | undefined> {
      const { condition, bindings } = narrowed(query)
      const rest = `WHERE ${condition} ORDER BY submitted_at, claim_id LIMIT 1 OFFSET ?`
      return selectRow(db, position, rest, [...bindings, count - 1])
    },
    /** Lists the submitters of claims after a time that were dated after their submission. */
    async submittersAhead(after: Instant): Promise<string[]> {
      const sql = `SELECT DISTINCT submitted_by FROM claims WHERE fresh_by = 'claimed_ahead' AND submitted_at > ?`
      return (await db.query(sql, [after])).map(submitters.read).map(({ submittedBy }) => submittedBy)
    },
    /** Finds the times when these claims were decided; undecided claims have none. */
    async decidedAt(claimIds: readonly string[]): Promise<Map<string, Instant>> {
      const rows = await db.query(
        `SELECT claims.claim_id, issued_at FROM claims JOIN receipts ON ${RECEIPT_OF_CLAIM} WHERE claims.claim_id IN ${texts}`,
        [JSON.stringify(claimIds)],
      )
      return new Map(rows.map((row) => [String(row.claim_id), Number(row.issued_at)]))
    },
    /** Lists every check of a claim, oldest first. */
    async history(claimId: string): Promise<CheckRecord[]> {
      return (await selectRows(db, checks, 'WHERE claim_id = ? ORDER BY attempt', [claimId])).map(
        ({ record }) => record,
      )
    },
  }
}

/** Reads for statistics: positions and counts. */
function countReads(db: Db) {
  const narrowed = (query: Omit<ClaimQuery, 'limit'>) => conditionOf(db.dialect, query)

  return {
    /** Lists the actions of the `count` newest claims of a workspace. */
    async actions(workspaceId: string, count: number): Promise<string[]> {
      const newest = `SELECT action FROM claims WHERE workspace_id = ? ${NEWEST_FIRST} LIMIT ?`
      const sql = `SELECT DISTINCT action FROM (${newest}) AS newest WHERE action <> '' ORDER BY action`
      return (await db.query(sql, [workspaceId, count])).map(({ action }) => String(action))
    },
    /** Finds the position of the `count`th claim of a scope, newest first, from the index alone; undefined when there are fewer. */
    async position(scope: ClaimScope, count: number): Promise<ClaimPosition | undefined> {
      const { condition, bindings } = narrowed(scope)
      const rest = `WHERE ${condition} ${NEWEST_FIRST} LIMIT 1 OFFSET ?`
      return selectRow(db, position, rest, [...bindings, count - 1])
    },
    /** Counts claims by verdict, in periods of `periodMs`. A period without claims has no count. */
    async counts(query: Omit<ClaimQuery, 'limit'>, periodMs: number): Promise<ClaimCount[]> {
      const { condition, bindings } = narrowed(query)
      const sql = `SELECT submitted_at / CAST(? AS bigint) AS bucket, verdict, COUNT(*) AS count,
        SUM(connection_removed) AS removed FROM claims
        WHERE ${condition} GROUP BY 1, 2`
      return (await db.query(sql, [periodMs, ...bindings])).map(counts.read)
    },
    async countsByAction(scope: ClaimScope): Promise<ActionCount[]> {
      const { condition, bindings } = narrowed(scope)
      const sql = `SELECT action, verdict, COUNT(*) AS count FROM claims WHERE ${condition} GROUP BY action, verdict`
      return (await db.query(sql, bindings)).map(actionCounts.read)
    },
    async countsByAgent(scope: ClaimScope): Promise<AgentCount[]> {
      const { condition, bindings } = narrowed(scope)
      const sql = `SELECT agent_id, verdict, COUNT(*) AS count, MAX(claim_id) AS newest FROM claims
        WHERE ${condition} GROUP BY agent_id, verdict`
      return (await db.query(sql, bindings)).map(agentCounts.read)
    },
    /** Counts the claims of all workspaces that wait, by what reads them. */
    async waiting(): Promise<WaitingCount[]> {
      const sql = `SELECT profile_action, profile_version, connections.provider, COUNT(*) AS count, MAX(deadline_at) AS until
        FROM claims LEFT JOIN connections ON connections.id = claims.connection_id
        WHERE claims.state = 'queued' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
      return (await db.query(sql)).map(waitingCounts.read)
    },
    /** Lists the agents that have their newest claim in the scope, the latest first. Each claim that is read costs one look into an index. */
    async agents({ limit, ...scope }: Omit<ClaimScope, 'agentId'> & { readonly limit: number }): Promise<LastClaim[]> {
      const { condition, bindings } = narrowed(scope)
      const rest = `WHERE ${condition} AND agent_id <> '' AND NOT EXISTS (
          SELECT 1 FROM claims AS newer WHERE newer.workspace_id = claims.workspace_id AND newer.agent_id = claims.agent_id
            AND (newer.submitted_at, newer.claim_id) > (claims.submitted_at, claims.claim_id))
        ${NEWEST_FIRST} LIMIT ?`
      return selectRows(db, lastClaims, rest, [...bindings, limit])
    },
  }
}

/** Reads of the queue of undecided claims. */
function queueReads(db: Db) {
  const { texts } = db.dialect

  return {
    /** Lists due claims of one kind, without those that `busy` names (`namesOfLane`). */
    async due(kind: DueKind, now: Instant, limit: number, busy: readonly string[]): Promise<DueClaim[]> {
      const isFree = BUSY_NAMES.map((name) => `(${name}) NOT IN ${texts}`).join(' AND ')
      const sql = `SELECT claim_id, target, ${LANE} AS lane, deadline_at FROM claims
        WHERE state = 'queued' AND due_at <= ? AND ${isFree} AND ${DUE[kind]} LIMIT ?`
      const names = JSON.stringify(busy)
      return (await db.query(sql, [now, ...BUSY_NAMES.map(() => names), now, limit])).map(dueClaims.read)
    },
    /** Lists the last checks of queued claims, of those that are due first. */
    async lastChecks(limit: number): Promise<CheckRecord[]> {
      const queued = `WHERE state = 'queued' AND last_check IS NOT NULL ORDER BY due_at LIMIT ?`
      return (await selectRows(db, lastChecks, queued, [limit])).map(({ lastCheck }) => lastCheck!)
    },
    /** Finds the queued claim with the earliest next check, also when that is not due yet. */
    async firstQueued(): Promise<ClaimRow | undefined> {
      return selectRow(db, claims, `WHERE state = 'queued' ORDER BY due_at LIMIT 1`, [])
    },
    /** Counts the queued claims of each workspace that an allowance pays for, until there are `most` in all. */
    async queuedCounts(allowance: string, most: number): Promise<readonly QueuedCount[]> {
      // The index has this range: the allowance, then those below it, `/` before each. 0 is the next character.
      const some = `SELECT payer, workspace_id FROM claims WHERE state = 'queued' AND payer >= ? AND payer < ? LIMIT ?`
      const sql = `SELECT payer, workspace_id, COUNT(*) AS count FROM (${some}) AS queued GROUP BY payer, workspace_id`
      return (await db.query(sql, [allowance, `${allowance}0`, most])).map(queuedCounts.read)
    },
    /** Counts the due claims of all workspaces, by kind, and tells since when the oldest check that decides has been due. */
    async dueCounts(
      now: Instant,
    ): Promise<Readonly<Record<DueKind, number>> & { readonly decidingSince: Instant | null }> {
      const isDeciding = 'COALESCE(moment_at <= ?, FALSE)'
      const counted = (condition: string) => `COALESCE(SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`
      const sql = `SELECT COUNT(*) AS total, ${counted(isDeciding)} AS deciding,
        MIN(CASE WHEN ${isDeciding} THEN moment_at END) AS since,
        ${counted(`NOT ${isDeciding} AND attempts = 0`)} AS first,
        ${counted(`NOT ${isDeciding} AND attempts > 0 AND watched = 1`)} AS watching
        FROM claims WHERE state = 'queued' AND due_at <= ?`
      const [row] = await db.query(sql, [now, now, now, now, now])
      const [deciding, first, watching] = [Number(row!.deciding), Number(row!.first), Number(row!.watching)]
      const decidingSince = row!.since === null ? null : Number(row!.since)
      return { deciding, first, watching, looking: Number(row!.total) - deciding - first - watching, decidingSince }
    },
    /** Counts the watched claims of a workspace. */
    async watchedCount(workspaceId: string): Promise<number> {
      const watched = `claims WHERE state = 'queued' AND watched = 1 AND workspace_id = ?`
      return countRows(db, watched, [workspaceId])
    },
  }
}

export function claimWrites(db: Db) {
  const { texts, forUpdateSkipLocked } = db.dialect

  return {
    ...claimReads(db),
    /**
     * Inserts claims with a new client_claim_id in their workspace, unless the agent is bound to keys that they did not come through, or that ended
     * since, each with its last check. Returns the ids of the inserted ones.
     */
    async insertNew(rows: readonly NewClaim[]): Promise<Set<string>> {
      // All hosts insert in one order: otherwise two that insert the same claims could wait for each other for ever.
      const ordered = rows.toSorted((one, other) => (identityOf(one) < identityOf(other) ? -1 : 1))
      const sql = `INSERT INTO claims (${claims.names}) SELECT ${storedClaims(OPEN_LOG_ID)} FROM ${rowsOf(db.dialect, newClaims)} AS new
        WHERE ${mayBeStored(db.dialect, 'new')} ON CONFLICT (workspace_id, client_claim_id) DO NOTHING RETURNING claim_id`
      const stored = ordered.length > 0 ? await db.query(sql, [toJson(newClaims, ordered)]) : []
      const inserted = new Set(stored.map((row) => String(row.claim_id)))
      const checked = rows.filter(({ claimId, lastCheck }) => lastCheck && inserted.has(claimId))
      if (checked.length > 0) {
        const ids = checked.map(({ claimId }) => claimId)
        await db.query(keepChecks(`(SELECT ${claims.names} FROM claims WHERE claim_id IN ${texts})`), [
          JSON.stringify(ids),
        ])
      }
      return inserted
    },
    /** Hands out those of these claims that are still due, and hides each from other workers until `leaseEnd`. */
    async lease(claimIds: readonly string[], now: Instant, leaseEnd: Instant): Promise<ClaimRow[]> {
      const due = `SELECT claim_id FROM claims
        WHERE claim_id IN ${texts} AND ${UNDECIDED} AND due_at <= ? ${forUpdateSkipLocked}`
      const sql = `UPDATE claims SET due_at = ? WHERE claim_id IN (${due}) RETURNING ${claims.names}`
      return (await db.query(sql, [leaseEnd, JSON.stringify(claimIds), now])).map(claims.read)
    },
    /** Ends a lease early, unless it has ended already: the claim is due again at the time that was planned. */
    async putBack({ claimId, dueAt }: Pick<ClaimRow, 'claimId' | 'dueAt'>): Promise<void> {
      const sql = `UPDATE claims SET due_at = next_check_at WHERE claim_id = ? AND ${UNDECIDED} AND due_at = ?`
      await db.query(sql, [claimId, dueAt])
    },
    /** Counts the checks of each of these claims, of those that are still queued. */
    async queuedAttempts(claimIds: readonly string[]): Promise<Map<string, number>> {
      if (claimIds.length === 0) return new Map()
      const sql = `SELECT claim_id, attempts FROM claims WHERE ${UNDECIDED} AND claim_id IN ${texts}`
      const rows = await db.query(sql, [JSON.stringify(claimIds)])
      return new Map(rows.map((row) => [String(row.claim_id), Number(row.attempts)]))
    },
  }
}

/** Makes one text of a claim's identity, for maps. */
export function identityOf({ workspaceId, clientClaimId }: ClaimIdentity): string {
  return `${workspaceId} ${clientClaimId}`
}

/**
 * Takes content out of claims, and stores what stays of each.
 * @param left what stays, by claim
 */
export async function eraseClaims(db: Db, _: unknown, left: readonly ErasedContent[]): Promise<void> {
  const sql = `UPDATE claims SET ${assignments(content, 'left_over')}
    FROM ${rowsOf(db.dialect, content)} AS left_over WHERE claims.claim_id = left_over.claim_id`
  await db.query(sql, [toJson(content, left)])
}

export async function eraseChecks(db: Db, erased: readonly ErasureRow[]): Promise<void> {
  const claimIds = JSON.stringify(erased.map(({ claimId }) => claimId))
  await db.query(`DELETE FROM checks WHERE claim_id IN ${db.dialect.texts}`, [claimIds])
}
