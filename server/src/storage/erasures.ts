/**
 * What was erased: a row for each receipt whose content is gone. The triggers of the append-only tables let that content go, and no
 * other, because this row is there.
 */
import type { Instant } from '@claimcheck/core'
import type { ErasureRule } from '../base/erasure-rules.ts'
import type { ClaimPosition } from './claim-query.ts'
import { type ClaimRow, claims } from './claim-row.ts'
import type { Db } from './db.ts'
import { receipts } from './log.ts'
import { insertRows, rowsOf, selectRow, selectRows, toJson } from './rows.ts'
import { assignments, instant, part, qualified, type RowOf, table, text } from './table.ts'

export const erasures = table('erasures', ['receiptId'], {
  receiptId: text('receipt_id'),
  claimId: text('claim_id'),
  erasedAt: instant('erased_at'),
  rule: text<ErasureRule>('rule'),
  /** Such as a file number; empty: there is none. Everybody reads it. */
  reference: text('reference'),
})

export type ErasureRow = RowOf<typeof erasures>

const remains = part(receipts, 'leafIndex', 'leafHash', 'issuedAt')

/** An erasure with what is left of its receipt. */
export type ErasedReceipt = ErasureRow & RowOf<typeof remains>

/** The columns of a claim that hold its content, and its id. */
const content = part(
  claims,
  'claimId',
  'clientClaimId',
  'agentId',
  'action',
  'target',
  'params',
  'claimDigest',
  'origin',
  'profileAction',
  'lastCheck',
)

export type ErasedContent = RowOf<typeof content>

/** A decided claim that its workspace's retention looks at. */
export interface AgedClaim extends ClaimPosition {
  readonly receiptId: string | null
  /** null: it is not decided. */
  readonly issuedAt: Instant | null
  readonly isErased: boolean
}

/** How many claims ask for the same at the same place. */
export interface SameOutcome {
  readonly claimId: string
  readonly receiptId: string | null
}

export function erasureReads(db: Db) {
  const { texts } = db.dialect
  const select = `SELECT ${qualified(erasures)}, leaf_index, leaf_hash, issued_at FROM erasures
    JOIN receipts ON receipts.receipt_id = erasures.receipt_id`
  const erased = (row: Parameters<typeof erasures.read>[0]): ErasedReceipt => ({
    ...erasures.read(row),
    ...remains.read(row),
  })

  return {
    /** Of those of these receipts that are erased, in any order. */
    async byReceiptIds(receiptIds: readonly string[]): Promise<ErasedReceipt[]> {
      const ids = JSON.stringify(receiptIds)
      return (await db.query(`${select} WHERE erasures.receipt_id IN ${texts}`, [ids])).map(erased)
    },
    /** Of those of these claims that are erased, in any order. */
    async byClaimIds(claimIds: readonly string[]): Promise<ErasureRow[]> {
      return selectRows(db, erasures, `WHERE claim_id IN ${texts}`, [JSON.stringify(claimIds)])
    },
    /** The latest first. */
    async list(limit: number): Promise<ErasedReceipt[]> {
      const order = 'ORDER BY erasures.erased_at DESC, erasures.receipt_id LIMIT ?'
      return (await db.query(`${select} ${order}`, [limit])).map(erased)
    },
    /** Other claims of the workspace that are not erased, with the same target and the same params. */
    async sameOutcome({ workspaceId, claimId, target, params }: ClaimRow, limit: number): Promise<SameOutcome[]> {
      const sql = `SELECT claim_id, receipt_id FROM claims
        WHERE workspace_id = ? AND target = ? AND params = ? AND claim_id <> ? ORDER BY claim_id LIMIT ?`
      const rows = await db.query(sql, [workspaceId, target, JSON.stringify(params), claimId, limit])
      return rows.map((row) => ({
        claimId: String(row.claim_id),
        receiptId: row.receipt_id === null ? null : String(row.receipt_id),
      }))
    },
    /** The claim whose receipt this is. */
    async claimOf(receiptId: string): Promise<ClaimRow | undefined> {
      const which = 'WHERE claim_id = (SELECT claim_id FROM receipts WHERE receipt_id = ?)'
      return selectRow(db, claims, which, [receiptId])
    },
    /** By the claim's own id, in any workspace. */
    async claim(claimId: string): Promise<ClaimRow | undefined> {
      return selectRow(db, claims, 'WHERE claim_id = ?', [claimId])
    },
    /** How many claims of a workspace were submitted before then and hold their content, counted up to `most`. */
    async agedCount(workspaceId: string, before: Instant, most: number): Promise<number> {
      const some = `SELECT 1 FROM claims WHERE workspace_id = ? AND submitted_at < ? AND agent_id <> '' AND state = 'decided' LIMIT ?`
      const [row] = await db.query(`SELECT COUNT(*) AS count FROM (${some}) AS some_claims`, [
        workspaceId,
        before,
        most,
      ])
      return Number(row!.count)
    },
    /** The next claims of a workspace that were submitted from one moment on and before another. */
    async aged(workspaceId: string, after: ClaimPosition, before: Instant, limit: number): Promise<AgedClaim[]> {
      const sql = `SELECT claims.claim_id, submitted_at, agent_id, receipts.receipt_id, receipts.issued_at FROM claims
        LEFT JOIN receipts ON receipts.claim_id = claims.claim_id
        WHERE workspace_id = ? AND (submitted_at, claims.claim_id) > (?, ?) AND submitted_at < ?
        ORDER BY submitted_at, claims.claim_id LIMIT ?`
      const rows = await db.query(sql, [workspaceId, after.submittedAt, after.claimId, before, limit])
      return rows.map((row) => ({
        claimId: String(row.claim_id),
        submittedAt: Number(row.submitted_at),
        receiptId: row.receipt_id === null ? null : String(row.receipt_id),
        issuedAt: row.issued_at === null ? null : Number(row.issued_at),
        isErased: row.agent_id === '',
      }))
    },
  }
}

export function erasureWrites(db: Db) {
  const { texts, forUpdate } = db.dialect

  return {
    ...erasureReads(db),
    /** The claims of those of these receipts that are not erased. No other transaction erases them until this one ends. */
    async lock(receiptIds: readonly string[]): Promise<ClaimRow[]> {
      const which = `WHERE claim_id IN (SELECT claim_id FROM receipts WHERE receipt_id IN ${texts}) AND agent_id <> ''`
      return selectRows(db, claims, `${which} ORDER BY claim_id ${forUpdate}`, [JSON.stringify(receiptIds)])
    },
    /**
     * Erases the content of receipts, of their evidence, of their claims and of their checks.
     * @param erased locked, none of them erased before
     * @param left what the claims hold from now on
     */
    async erase(erased: readonly ErasureRow[], left: readonly ErasedContent[]): Promise<void> {
      const receiptIds = JSON.stringify(erased.map(({ receiptId }) => receiptId))
      const claimIds = JSON.stringify(erased.map(({ claimId }) => claimId))
      // First: it is what the triggers ask for.
      await insertRows(db, erasures, erased)
      await db.query(`UPDATE receipts SET entry = '' WHERE receipt_id IN ${texts}`, [receiptIds])
      await db.query(`DELETE FROM evidence WHERE receipt_id IN ${texts}`, [receiptIds])
      await db.query(`DELETE FROM checks WHERE claim_id IN ${texts}`, [claimIds])
      const sql = `UPDATE claims SET ${assignments(content, 'left_over')}
        FROM ${rowsOf(db.dialect, content)} AS left_over WHERE claims.claim_id = left_over.claim_id`
      await db.query(sql, [toJson(content, left)])
    },
  }
}
