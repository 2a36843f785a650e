/** Claims and their checks as rows; the queue is the claims' own `due_at`. */
import type { CheckRecord, Instant, JsonObject, ReasonCode, VerdictValue } from '@claimcheck/core'
import type { Knex } from 'knex'
import { insertRows, nullableNumber, nullableText, type Row } from './rows.ts'

/** How a claim's destination is read, fixed at submission; the last three can not be read at all. */
export type Access = 'connection' | 'anonymous' | 'no_connection' | 'ambiguous_claim' | 'unsupported_action'

export interface ClaimRow {
  readonly claimId: string
  readonly workspaceId: string
  readonly clientClaimId: string
  readonly agentId: string
  readonly action: string
  readonly target: string
  readonly params: JsonObject
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
  readonly submittedAt: Instant
  readonly claimDigest: string
  readonly access: Access
  readonly connectionId: string | null
  /** The profile that judges it: its own name, whatever alias was claimed. */
  readonly profileAction: string
  readonly profileVersion: string
  readonly state: 'queued' | 'decided'
  readonly attempts: number
  readonly dueAt: Instant | null
  readonly nextCheckAt: Instant | null
  readonly lastCheck: CheckRecord | null
  readonly receiptId: string | null
  readonly verdict: VerdictValue | null
  readonly reasonCode: ReasonCode | null
}

/** The part of a claim that a check changes. */
export type ClaimProgress = Pick<
  ClaimRow,
  'claimId' | 'state' | 'attempts' | 'dueAt' | 'nextCheckAt' | 'lastCheck' | 'receiptId' | 'verdict' | 'reasonCode'
>

export interface ClaimPosition {
  readonly submittedAt: Instant
  readonly claimId: string
}

export interface ClaimQuery {
  readonly workspaceId: string
  readonly limit: number
  /** Only claims older than this one. */
  readonly before?: ClaimPosition
  readonly agentId?: string
  readonly action?: string
  readonly verdict?: string
  readonly state?: string
}

export function claimReads(db: Knex) {
  return {
    async byId(workspaceId: string, claimId: string): Promise<ClaimRow | undefined> {
      const [row] = await db.raw('SELECT * FROM claims WHERE claim_id = ? AND workspace_id = ?', [claimId, workspaceId])
      return row && toClaim(row)
    },
    async byClientId(workspaceId: string, clientClaimId: string): Promise<ClaimRow | undefined> {
      const sql = 'SELECT * FROM claims WHERE workspace_id = ? AND client_claim_id = ?'
      const [row] = await db.raw(sql, [workspaceId, clientClaimId])
      return row && toClaim(row)
    },
    async byIds(claimIds: readonly string[]): Promise<ClaimRow[]> {
      return (await db('claims').whereIn('claim_id', claimIds)).map(toClaim)
    },
    /** What must never be: a decision without its receipt, or checks that were counted and not kept. In words. */
    async contradictions(limit: number): Promise<string[]> {
      const undocumented = `SELECT claims.claim_id FROM claims LEFT JOIN receipts ON receipts.claim_id = claims.claim_id
        WHERE (state = 'decided') <> (receipts.claim_id IS NOT NULL) LIMIT ?`
      const own = 'SELECT COUNT(*) FROM checks WHERE checks.claim_id = claims.claim_id'
      const uncounted = `SELECT claim_id FROM claims
        WHERE attempts <> (${own}) OR attempts <> (${own} AND attempt BETWEEN 1 AND attempts) LIMIT ?`
      const [first, second]: Row[][] = await Promise.all([db.raw(undocumented, [limit]), db.raw(uncounted, [limit])])
      return [
        ...first!.map((row) => `claim ${row.claim_id}: decided without a receipt, or the other way round`),
        ...second!.map((row) => `claim ${row.claim_id}: attempts is not the number of its checks`),
      ]
    },
    /** Newest first. */
    async list(query: ClaimQuery): Promise<ClaimRow[]> {
      const rows = db('claims').where('workspace_id', query.workspaceId)
      if (query.agentId !== undefined) rows.where('agent_id', query.agentId)
      if (query.action !== undefined) rows.where('action', query.action)
      if (query.verdict !== undefined) rows.where('verdict', query.verdict)
      if (query.state !== undefined) rows.where('state', query.state)
      const { before } = query
      if (before) rows.whereRaw('(submitted_at, claim_id) < (?, ?)', [before.submittedAt, before.claimId])
      return (
        await rows
          .orderBy([
            { column: 'submitted_at', order: 'desc' },
            { column: 'claim_id', order: 'desc' },
          ])
          .limit(query.limit)
      ).map(toClaim)
    },
    /** The next of those that are queued, in the order of their ids. */
    async queuedIds(after: string, limit: number): Promise<string[]> {
      const sql = `SELECT claim_id FROM claims WHERE state = 'queued' AND claim_id > ? ORDER BY claim_id LIMIT ?`
      return (await db.raw(sql, [after, limit])).map((row: Row) => String(row.claim_id))
    },
    /** Every check of a claim, oldest first. */
    async history(claimId: string): Promise<CheckRecord[]> {
      const rows = await db.raw('SELECT record FROM checks WHERE claim_id = ? ORDER BY attempt', [claimId])
      return rows.map(toRecord)
    },
    /** Every check of these claims, oldest first. */
    async histories(claimIds: readonly string[]): Promise<Map<string, CheckRecord[]>> {
      const histories = new Map<string, CheckRecord[]>(claimIds.map((claimId) => [claimId, []]))
      const rows = await db('checks').whereIn('claim_id', claimIds).orderBy('attempt')
      for (const row of rows) histories.get(row.claim_id)?.push(toRecord(row))
      return histories
    },
  }
}

export function claimWrites(db: Knex) {
  return {
    ...claimReads(db),
    /** Inserts those whose client_claim_id is new in its workspace, and returns the ids of these. */
    async insertNew(claims: readonly ClaimRow[]): Promise<Set<string>> {
      const suffix = 'ON CONFLICT (workspace_id, client_claim_id) DO NOTHING RETURNING claim_id'
      const rows = await insertRows(db, 'claims', claims.map(toRow), suffix)
      return new Set(rows.map((row) => String(row.claim_id)))
    },
    /** Hands out up to `limit` due claims, the longest due first, and hides each from other workers until `leaseEnd`. */
    async lease(now: Instant, leaseEnd: Instant, limit: number): Promise<ClaimRow[]> {
      const due = `SELECT claim_id FROM claims WHERE state = 'queued' AND due_at <= ? ORDER BY due_at LIMIT ?`
      const sql = `UPDATE claims SET due_at = ? WHERE claim_id IN (${due}) RETURNING *`
      return (await db.raw(sql, [leaseEnd, now, limit])).map(toClaim)
    },
    /** How many checks each of these claims has had, of those that are still queued. */
    async queuedAttempts(claimIds: readonly string[]): Promise<Map<string, number>> {
      const marks = claimIds.map(() => '?').join(',')
      const sql = `SELECT claim_id, attempts FROM claims WHERE state = 'queued' AND claim_id IN (${marks})`
      const rows: Row[] = await db.raw(sql, [...claimIds])
      return new Map(rows.map((row) => [String(row.claim_id), Number(row.attempts)]))
    },
    async insertChecks(
      checks: readonly { readonly claimId: string; readonly attempt: number; readonly record: CheckRecord }[],
    ): Promise<void> {
      const rows = checks.map((check) => ({
        claim_id: check.claimId,
        attempt: check.attempt,
        record: JSON.stringify(check.record),
      }))
      await insertRows(db, 'checks', rows)
    },
    async advance(claims: readonly ClaimProgress[]): Promise<void> {
      if (claims.length === 0) return
      const groups = claims.map(() => '(?,?,?,?,?,?,?,?,?)').join(',')
      // The casts tell Postgres the types of a list that is all nulls.
      const sql = `WITH progress (claim_id, state, attempts, due_at, next_check_at, last_check, receipt_id, verdict, reason_code)
        AS (VALUES ${groups})
        UPDATE claims SET state = progress.state, attempts = CAST(progress.attempts AS integer),
          due_at = CAST(progress.due_at AS bigint), next_check_at = CAST(progress.next_check_at AS bigint),
          last_check = progress.last_check, receipt_id = progress.receipt_id, verdict = progress.verdict,
          reason_code = progress.reason_code
        FROM progress WHERE claims.claim_id = progress.claim_id`
      const bindings = claims.flatMap((claim) => [
        claim.claimId,
        claim.state,
        claim.attempts,
        claim.dueAt,
        claim.nextCheckAt,
        claim.lastCheck && JSON.stringify(claim.lastCheck),
        claim.receiptId,
        claim.verdict,
        claim.reasonCode,
      ])
      await db.raw(sql, bindings as Knex.RawBinding[])
    },
  }
}

function toRow(claim: ClaimRow): Row {
  return {
    claim_id: claim.claimId,
    workspace_id: claim.workspaceId,
    client_claim_id: claim.clientClaimId,
    agent_id: claim.agentId,
    action: claim.action,
    target: claim.target,
    params: JSON.stringify(claim.params),
    claimed_at: claim.claimedAt,
    deadline_at: claim.deadlineAt,
    submitted_at: claim.submittedAt,
    claim_digest: claim.claimDigest,
    access: claim.access,
    connection_id: claim.connectionId,
    profile_action: claim.profileAction,
    profile_version: claim.profileVersion,
    state: claim.state,
    attempts: claim.attempts,
    due_at: claim.dueAt,
    next_check_at: claim.nextCheckAt,
    last_check: claim.lastCheck && JSON.stringify(claim.lastCheck),
    receipt_id: claim.receiptId,
    verdict: claim.verdict,
    reason_code: claim.reasonCode,
  }
}

function toClaim(row: Row): ClaimRow {
  return {
    claimId: String(row.claim_id),
    workspaceId: String(row.workspace_id),
    clientClaimId: String(row.client_claim_id),
    agentId: String(row.agent_id),
    action: String(row.action),
    target: String(row.target),
    params: JSON.parse(String(row.params)),
    claimedAt: Number(row.claimed_at),
    deadlineAt: Number(row.deadline_at),
    submittedAt: Number(row.submitted_at),
    claimDigest: String(row.claim_digest),
    access: row.access as Access,
    connectionId: nullableText(row.connection_id),
    profileAction: String(row.profile_action),
    profileVersion: String(row.profile_version),
    state: row.state as ClaimRow['state'],
    attempts: Number(row.attempts),
    dueAt: nullableNumber(row.due_at),
    nextCheckAt: nullableNumber(row.next_check_at),
    lastCheck: row.last_check === null ? null : JSON.parse(String(row.last_check)),
    receiptId: nullableText(row.receipt_id),
    verdict: row.verdict as VerdictValue | null,
    reasonCode: row.reason_code as ReasonCode | null,
  }
}

function toRecord(row: Row): CheckRecord {
  return JSON.parse(String(row.record))
}
