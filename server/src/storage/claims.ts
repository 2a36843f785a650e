/** Claims and their checks as rows; the queue is the claims' own `due_at`. */
import type { CheckRecord, Instant, VerdictValue } from '@claimcheck/core'
import { CLAIMS, type ClaimRow, keepChecks, toCells, toClaim, UNDECIDED } from './claim-row.ts'
import type { Binding, Db, Row } from './db.ts'
import { type Columns, insertRows, names, rowsOf, textsOf, toJson } from './rows.ts'

export interface ClaimPosition {
  readonly submittedAt: Instant
  readonly claimId: string
}

export interface ClaimQuery {
  readonly workspaceId: string
  readonly limit: number
  /** Only claims older than this one. */
  readonly before?: ClaimPosition
  /** Only this claim and newer ones. */
  readonly from?: ClaimPosition
  readonly agentId?: string
  readonly action?: string
  readonly target?: string
  readonly verdict?: string
  readonly state?: string
}

/** How many claims were submitted within one stretch of time, and stand so. */
export interface ClaimCount {
  /** Which stretch, counted in its own length since the epoch. */
  readonly bucket: number
  /** null: not decided yet. */
  readonly verdict: VerdictValue | null
  readonly count: number
}

/** A claim's place in the queue. */
export interface DueClaim {
  readonly claimId: string
  readonly lane: string
}

/** Which claims hold each other up when what they are checked at hangs: those of one connection, or of one public destination. */
export function laneOf({ connectionId, profileAction }: Pick<ClaimRow, 'connectionId' | 'profileAction'>): string {
  return connectionId ?? profileAction
}

// As the queue's index has it.
const LANE = 'COALESCE(connection_id, profile_action)'

const CLIENT_IDS: Columns = { workspace_id: 'text', client_claim_id: 'text' }

const SELECT_CLAIMS = `SELECT ${names(CLAIMS)} FROM claims`

/** Columns that a list may be narrowed by, each by one value. */
const FILTERS = { agentId: 'agent_id', action: 'action', target: 'target', verdict: 'verdict', state: 'state' } as const

const NEWEST_FIRST = 'ORDER BY submitted_at DESC, claim_id DESC'

export function claimReads(db: Db) {
  const inTexts = textsOf(db.dialect)

  return {
    async byId(workspaceId: string, claimId: string): Promise<ClaimRow | undefined> {
      const [row] = await db.query(`${SELECT_CLAIMS} WHERE claim_id = ? AND workspace_id = ?`, [claimId, workspaceId])
      return row && toClaim(row)
    },
    /** Those that are stored, in any order. */
    async byClientIds(
      ids: readonly { readonly workspaceId: string; readonly clientClaimId: string }[],
    ): Promise<ClaimRow[]> {
      const asked = rowsOf(db.dialect, CLIENT_IDS)
      const sql = `${SELECT_CLAIMS} WHERE (workspace_id, client_claim_id) IN (SELECT workspace_id, client_claim_id FROM ${asked} AS asked)`
      const bindings = [toJson(ids.map(({ workspaceId, clientClaimId }) => [workspaceId, clientClaimId]))]
      const rows = await db.query(sql, bindings, { replanned: true })
      return rows.map(toClaim)
    },
    async byIds(claimIds: readonly string[]): Promise<ClaimRow[]> {
      const sql = `${SELECT_CLAIMS} WHERE claim_id IN ${inTexts}`
      return (await db.query(sql, [JSON.stringify(claimIds)])).map(toClaim)
    },
    /** What must never be: a decision without its receipt, or checks that were counted and not kept. In words. */
    async contradictions(limit: number): Promise<string[]> {
      const undocumented = `SELECT claims.claim_id FROM claims LEFT JOIN receipts ON receipts.claim_id = claims.claim_id
        WHERE (state = 'decided') <> (receipts.claim_id IS NOT NULL) LIMIT ?`
      const own = 'SELECT COUNT(*) FROM checks WHERE checks.claim_id = claims.claim_id'
      const uncounted = `SELECT claim_id FROM claims
        WHERE attempts <> (${own}) OR attempts <> (${own} AND attempt BETWEEN 1 AND attempts) LIMIT ?`
      const [first, second] = await Promise.all([db.query(undocumented, [limit]), db.query(uncounted, [limit])])
      return [
        ...first.map((row) => `claim ${row.claim_id}: decided without a receipt, or the other way round`),
        ...second.map((row) => `claim ${row.claim_id}: attempts is not the number of its checks`),
      ]
    },
    /** Newest first. */
    async list({ limit, ...query }: ClaimQuery): Promise<ClaimRow[]> {
      const { condition, bindings } = narrowed(query)
      const sql = `${SELECT_CLAIMS} WHERE ${condition} ${NEWEST_FIRST} LIMIT ?`
      return (await db.query(sql, [...bindings, limit])).map(toClaim)
    },
    /** The last of so many claims, oldest first; undefined when there are not so many. */
    async positionFromOldest(query: Omit<ClaimQuery, 'limit'>, count: number): Promise<ClaimPosition | undefined> {
      const { condition, bindings } = narrowed(query)
      const sql = `SELECT submitted_at, claim_id FROM claims WHERE ${condition} ORDER BY submitted_at, claim_id LIMIT 1 OFFSET ?`
      const [row] = await db.query(sql, [...bindings, count - 1])
      return row && { submittedAt: Number(row.submitted_at), claimId: String(row.claim_id) }
    },
    /** The actions of so many claims of a workspace, the newest. */
    async actions(workspaceId: string, count: number): Promise<string[]> {
      const newest = `SELECT action FROM claims WHERE workspace_id = ? ${NEWEST_FIRST} LIMIT ?`
      const rows = await db.query(`SELECT DISTINCT action FROM (${newest}) AS newest ORDER BY action`, [
        workspaceId,
        count,
      ])
      return rows.map(({ action }) => String(action))
    },
    /** The last of so many claims of a workspace, newest first; undefined when there are not so many. From the index alone. */
    async position(
      { workspaceId, before }: Pick<ClaimQuery, 'workspaceId' | 'before'>,
      count: number,
    ): Promise<ClaimPosition | undefined> {
      const older = before ? 'AND (submitted_at, claim_id) < (?, ?)' : ''
      const sql = `SELECT submitted_at, claim_id FROM claims WHERE workspace_id = ? ${older} ${NEWEST_FIRST} LIMIT 1 OFFSET ?`
      const bindings = [workspaceId, ...(before ? [before.submittedAt, before.claimId] : []), count - 1]
      const [row] = await db.query(sql, bindings)
      return row && { submittedAt: Number(row.submitted_at), claimId: String(row.claim_id) }
    },
    /** Of the claims that were submitted since `since`, in stretches of `stretchMs`. Where there are none, there is no count. */
    async counts(workspaceId: string, since: Instant, stretchMs: number): Promise<ClaimCount[]> {
      const sql = `SELECT submitted_at / CAST(? AS bigint) AS bucket, verdict, COUNT(*) AS count FROM claims
        WHERE workspace_id = ? AND submitted_at >= ? GROUP BY 1, 2`
      const rows = await db.query(sql, [stretchMs, workspaceId, since])
      return rows.map((row) => ({
        bucket: Number(row.bucket),
        verdict: row.verdict as VerdictValue | null,
        count: Number(row.count),
      }))
    },
    /** The next of those that are queued, in the order of their ids. */
    async queuedIds(after: string, limit: number): Promise<string[]> {
      const sql = `SELECT claim_id FROM claims WHERE state = 'queued' AND claim_id > ? ORDER BY claim_id LIMIT ?`
      return (await db.query(sql, [after, limit])).map((row) => String(row.claim_id))
    },
    /** The claims that are due, the longest due first, but for those in `busyLanes`. */
    async due(now: Instant, limit: number, busyLanes: readonly string[]): Promise<DueClaim[]> {
      const sql = `SELECT claim_id, ${LANE} AS lane FROM claims
        WHERE state = 'queued' AND due_at <= ? AND ${LANE} NOT IN ${inTexts} ORDER BY due_at LIMIT ?`
      const rows = await db.query(sql, [now, JSON.stringify(busyLanes), limit])
      return rows.map((row) => ({ claimId: String(row.claim_id), lane: String(row.lane) }))
    },
    /** Every check of a claim, oldest first. */
    async history(claimId: string): Promise<CheckRecord[]> {
      return (await db.query('SELECT record FROM checks WHERE claim_id = ? ORDER BY attempt', [claimId])).map(toRecord)
    },
    /** Every check of these claims, oldest first. */
    async histories(claimIds: readonly string[]): Promise<Map<string, CheckRecord[]>> {
      const histories = new Map<string, CheckRecord[]>(claimIds.map((claimId) => [claimId, []]))
      const sql = `SELECT claim_id, record FROM checks WHERE claim_id IN ${inTexts} ORDER BY attempt`
      const rows = await db.query(sql, [JSON.stringify(claimIds)])
      for (const row of rows) histories.get(String(row.claim_id))?.push(toRecord(row))
      return histories
    },
  }
}

/** The condition of a list, and what it is given. */
function narrowed({ workspaceId, before, from, ...filter }: Omit<ClaimQuery, 'limit'>) {
  const conditions = ['workspace_id = ?']
  const bindings: Binding[] = [workspaceId]
  for (const [name, column] of Object.entries(FILTERS)) {
    const value = filter[name as keyof typeof FILTERS]
    if (value === undefined) continue
    conditions.push(`${column} = ?`)
    bindings.push(value)
  }
  if (before) {
    conditions.push('(submitted_at, claim_id) < (?, ?)')
    bindings.push(before.submittedAt, before.claimId)
  }
  if (from) {
    conditions.push('(submitted_at, claim_id) >= (?, ?)')
    bindings.push(from.submittedAt, from.claimId)
  }
  return { condition: conditions.join(' AND '), bindings }
}

export function claimWrites(db: Db) {
  const inTexts = textsOf(db.dialect)
  const skipLocked = db.dialect === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''

  return {
    ...claimReads(db),
    /** Inserts those whose client_claim_id is new in its workspace, each with its last check, and returns the ids of these. */
    async insertNew(claims: readonly ClaimRow[]): Promise<Set<string>> {
      // In one order everywhere: two hosts that insert the same ones would wait for each other for ever.
      const ordered = claims.toSorted((one, other) => (identityOf(one) < identityOf(other) ? -1 : 1))
      const suffix = 'ON CONFLICT (workspace_id, client_claim_id) DO NOTHING RETURNING claim_id'
      const rows = await insertRows(db, 'claims', CLAIMS, ordered.map(toCells), suffix)
      const inserted = new Set(rows.map((row) => String(row.claim_id)))
      const checked = claims.filter(({ claimId, lastCheck }) => lastCheck && inserted.has(claimId))
      if (checked.length > 0) {
        const ids = checked.map(({ claimId }) => claimId)
        await db.query(keepChecks(`(${SELECT_CLAIMS} WHERE claim_id IN ${inTexts})`), [JSON.stringify(ids)])
      }
      return inserted
    },
    /** Hands out those of these claims that are due still, and hides each from other workers until `leaseEnd`. */
    async lease(claimIds: readonly string[], now: Instant, leaseEnd: Instant): Promise<ClaimRow[]> {
      const due = `SELECT claim_id FROM claims WHERE claim_id IN ${inTexts} AND ${UNDECIDED} AND due_at <= ? ${skipLocked}`
      const sql = `UPDATE claims SET due_at = ? WHERE claim_id IN (${due}) RETURNING ${names(CLAIMS)}`
      return (await db.query(sql, [leaseEnd, JSON.stringify(claimIds), now])).map(toClaim)
    },
    /** How many checks each of these claims has had, of those that are still queued. */
    async queuedAttempts(claimIds: readonly string[]): Promise<Map<string, number>> {
      if (claimIds.length === 0) return new Map()
      const sql = `SELECT claim_id, attempts FROM claims WHERE ${UNDECIDED} AND claim_id IN ${inTexts}`
      const rows = await db.query(sql, [JSON.stringify(claimIds)])
      return new Map(rows.map((row) => [String(row.claim_id), Number(row.attempts)]))
    },
  }
}

function identityOf({ workspaceId, clientClaimId }: ClaimRow): string {
  return `${workspaceId} ${clientClaimId}`
}

function toRecord(row: Row): CheckRecord {
  return JSON.parse(String(row.record))
}
