/** Revisits as rows: looks at decided claims, to tell whether what was verified is still there, and the schedules by which workspaces ask for them. */
import type { Change } from '@claimcheck/core/receipts'
import type { CheckRecord, Instant, RevisitResult } from '@claimcheck/core/rules'
import type { ClaimPosition } from './claim-query.ts'
import { type ClaimRow, claims } from './claim-row.ts'
import type { Db } from './db.ts'
import type { ErasureRow } from './erasures.ts'
import { countRows, insertRows, selectRow, selectRows } from './rows.ts'
import { bigint, instant, integer, json, large, nullable, part, type RowOf, table, text } from './table.ts'

/** The most revisits of one claim. */
export const MOST_REVISITS = 3

/** One revisit of a claim. Erasing the claim's content removes it. */
export const revisits = table('revisits', ['revisitId'], {
  revisitId: text('revisit_id'),
  claimId: text('claim_id'),
  workspaceId: text('workspace_id'),
  /** The number of the revisit among those of its claim, from 1 on. */
  ordinal: integer('ordinal'),
  askedAt: instant('asked_at'),
  askedBy: text<'owner' | 'schedule'>('asked_by'),
  /** The time when a host takes the next look; taking it moves this to the end of the host's lease. Null once there is a result. */
  dueAt: nullable(instant('due_at')),
  /** The time just before the first look, which stands for the claim's own times; null before it. */
  beganAt: nullable(instant('began_at')),
  looks: large(json<readonly CheckRecord[]>('looks')),
  lookCount: integer('look_count'),
  result: nullable(text<RevisitResult>('result')),
  endedAt: nullable(instant('ended_at')),
  /** The time of the look that the result rests on, if that could read. */
  seenAt: nullable(instant('seen_at')),
  /** The form of a change; null for other results. */
  change: nullable(text<Change>('found')),
  /** The text whose digest the finding signs; null for other results, as the finding's id and its place in a log. */
  evidence: large(nullable(text('evidence'))),
  findingId: nullable(text('finding_id')),
  logId: nullable(text('log_id')),
  leafIndex: nullable(bigint('leaf_index')),
})

/** A workspace's wish that its claims be looked at again so many days after their submission. */
export const revisitSchedules = table('revisit_schedules', ['workspaceId', 'days'], {
  workspaceId: text('workspace_id'),
  days: integer('days'),
  /** The last claim, by its submission, for which the schedule asked or that it passed over. */
  submittedAt: instant('submitted_at'),
  claimId: text('claim_id'),
})

const shown = part(
  revisits,
  'revisitId',
  'claimId',
  'askedAt',
  'askedBy',
  'result',
  'endedAt',
  'seenAt',
  'change',
  'findingId',
  'logId',
  'leafIndex',
)

export type RevisitRow = RowOf<typeof revisits>
/** The part of a revisit that is shown. */
export type ShownRevisit = RowOf<typeof shown>
export type RevisitScheduleRow = RowOf<typeof revisitSchedules>
export type RevisitEnd = Pick<RevisitRow, 'result' | 'endedAt' | 'seenAt'> &
  Partial<Pick<RevisitRow, 'change' | 'evidence' | 'findingId' | 'logId' | 'leafIndex'>>

const OPEN = 'result IS NULL'

export function revisitReads(db: Db) {
  return {
    /** Lists the revisits of a claim, oldest first. */
    async ofClaim(claimId: string): Promise<ShownRevisit[]> {
      return selectRows(db, shown, 'WHERE claim_id = ? ORDER BY ordinal', [claimId])
    },
    /** Lists the revisits of a receipt's claim, oldest first. */
    async ofReceipt(receiptId: string): Promise<ShownRevisit[]> {
      const rest = 'WHERE claim_id IN (SELECT claim_id FROM claims WHERE receipt_id = ?) ORDER BY ordinal'
      return selectRows(db, shown, rest, [receiptId])
    },
    async byFinding(findingId: string): Promise<RevisitRow | undefined> {
      return selectRow(db, revisits, 'WHERE finding_id = ?', [findingId])
    },
    async anyDue(now: Instant): Promise<boolean> {
      return (await db.query('SELECT 1 AS one FROM revisits WHERE due_at <= ? LIMIT 1', [now])).length > 0
    },
    /** Counts the revisits of a workspace without a result, up to `most`. */
    async waiting(workspaceId: string, most: number): Promise<number> {
      const some = `SELECT 1 FROM revisits WHERE workspace_id = ? AND ${OPEN} LIMIT ?`
      return countRows(db, `(${some}) AS some_revisits`, [workspaceId, most])
    },
    /** Lists the schedules of all workspaces that are not deleted. */
    async schedules(): Promise<RevisitScheduleRow[]> {
      const rest =
        'WHERE workspace_id IN (SELECT id FROM workspaces WHERE deleted_at IS NULL) ORDER BY workspace_id, days'
      return selectRows(db, revisitSchedules, rest)
    },
    /** Lists the days after which a workspace has its claims looked at again, the first first. */
    async daysOf(workspaceId: string): Promise<number[]> {
      const rows = await selectRows(db, revisitSchedules, 'WHERE workspace_id = ? ORDER BY days', [workspaceId])
      return rows.map(({ days }) => days)
    },
    /** Lists the next claims of a workspace by their submission. */
    async submitted(workspaceId: string, after: ClaimPosition, before: Instant, limit: number): Promise<ClaimRow[]> {
      const rest = `WHERE workspace_id = ? AND (submitted_at, claim_id) > (?, ?) AND submitted_at < ?
        ORDER BY submitted_at, claim_id LIMIT ?`
      return selectRows(db, claims, rest, [workspaceId, after.submittedAt, after.claimId, before, limit])
    },
  }
}

export function revisitWrites(db: Db) {
  const reads = revisitReads(db)
  return {
    ...reads,
    /** Locks a claim, so that its content is not erased and it gets no other revisit until this transaction ends. Call it before the log is locked. */
    async lockClaim(claimId: string): Promise<ClaimRow | undefined> {
      return selectRow(db, claims, `WHERE claim_id = ? ${db.dialect.forChange}`, [claimId])
    },
    async insert(row: RevisitRow): Promise<void> {
      await insertRows(db, revisits, [row])
    },
    /** Hands out due revisits, and hides each from other hosts until `leaseEnd`. */
    async lease(now: Instant, leaseEnd: Instant, limit: number): Promise<RevisitRow[]> {
      const due = `SELECT revisit_id FROM revisits WHERE due_at <= ? ORDER BY due_at, revisit_id LIMIT ? ${db.dialect.forUpdateSkipLocked}`
      const sql = `UPDATE revisits SET due_at = ? WHERE revisit_id IN (${due}) RETURNING ${revisits.names}`
      return (await db.query(sql, [leaseEnd, now, limit])).map(revisits.read)
    },
    async postpone({ revisitId }: RevisitRow, dueAt: Instant): Promise<void> {
      await db.query(`UPDATE revisits SET due_at = ? WHERE revisit_id = ? AND ${OPEN}`, [dueAt, revisitId])
    },
    /** Stores a look after those of the row. False, and nothing is stored, where another host stored one meanwhile or the row is gone. */
    async looked(row: RevisitRow, beganAt: Instant, looks: readonly CheckRecord[], dueAt: Instant): Promise<boolean> {
      const sql = `UPDATE revisits SET began_at = ?, looks = CAST(? AS text), look_count = ?, due_at = ?
        WHERE revisit_id = ? AND look_count = ? AND ${OPEN} RETURNING revisit_id`
      const bindings = [beganAt, JSON.stringify(looks), looks.length, dueAt, row.revisitId, row.lookCount]
      return (await db.query(sql, bindings)).length === 1
    },
    /** Locks a revisit if it still has exactly these looks and no result. */
    async lockOpen({ revisitId, lookCount }: RevisitRow): Promise<boolean> {
      const sql = `SELECT revisit_id FROM revisits WHERE revisit_id = ? AND look_count = ? AND ${OPEN} ${db.dialect.forUpdate}`
      return (await db.query(sql, [revisitId, lookCount])).length === 1
    },
    /** Ends a revisit. One that has a result already keeps it. */
    async end(revisitId: string, end: RevisitEnd): Promise<void> {
      const { result, endedAt, seenAt, change = null, evidence = null, findingId = null } = end
      const { logId = null, leafIndex = null } = end
      const sql = `UPDATE revisits SET result = ?, ended_at = ?, seen_at = ?, found = ?, evidence = CAST(? AS text), finding_id = ?, log_id = ?,
        leaf_index = ?, due_at = NULL WHERE revisit_id = ? AND ${OPEN}`
      await db.query(sql, [result, endedAt, seenAt, change, evidence, findingId, logId, leafIndex, revisitId])
    },
    /** Removes the revisits of a workspace that have no result. */
    async removeWaiting(workspaceId: string): Promise<void> {
      await db.query(`DELETE FROM revisits WHERE workspace_id = ? AND ${OPEN}`, [workspaceId])
    },
    /** Sets the days of a workspace. A new one begins with the claims that come of age from now on; one that it had goes on. */
    async setDays(workspaceId: string, days: readonly number[], startOf: (days: number) => Instant): Promise<void> {
      const kept = `DELETE FROM revisit_schedules WHERE workspace_id = ? AND days NOT IN (${days.map(() => '?').join(', ')})`
      if (days.length === 0) await db.query('DELETE FROM revisit_schedules WHERE workspace_id = ?', [workspaceId])
      else await db.query(kept, [workspaceId, ...days])
      const rows = days.map((days) => ({ workspaceId, days, submittedAt: startOf(days), claimId: '' }))
      await insertRows(db, revisitSchedules, rows, 'ON CONFLICT (workspace_id, days) DO NOTHING')
    },
    /** Stores how far a schedule has come. */
    async cameTo({ workspaceId, days }: RevisitScheduleRow, { submittedAt, claimId }: ClaimPosition): Promise<void> {
      const sql = 'UPDATE revisit_schedules SET submitted_at = ?, claim_id = ? WHERE workspace_id = ? AND days = ?'
      await db.query(sql, [submittedAt, claimId, workspaceId, days])
    },
  }
}

/** Removes the revisits of erased claims: their looks and evidence are content. A finding in the log has none. */
export async function eraseRevisits(db: Db, erased: readonly ErasureRow[]): Promise<void> {
  const claimIds = JSON.stringify(erased.map(({ claimId }) => claimId))
  await db.query(`DELETE FROM revisits WHERE claim_id IN ${db.dialect.texts}`, [claimIds])
}
