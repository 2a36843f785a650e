/** Erased receipts, a row for each. The triggers of the append-only tables let only content of receipts go that have such a row. */
import type { Instant } from '@claimcheck/core/rules'
import type { ClaimPosition } from './claim-query.ts'
import { type ClaimRow, claims, type ErasedContent, RECEIPT_OF_CLAIM } from './claim-row.ts'
import type { Db } from './db.ts'
import type { ErasureRule } from './erasure-rules.ts'
import { countRows, insertRows, selectRow, selectRows } from './rows.ts'
import { bigint, bytes, extended, instant, nullable, part, type RowOf, table, text } from './table.ts'

export const erasures = table('erasures', ['receiptId'], {
  receiptId: text('receipt_id'),
  claimId: text('claim_id'),
  logId: text('log_id'),
  leafIndex: bigint('leaf_index'),
  leafHash: bytes('leaf_hash'),
  issuedAt: instant('issued_at'),
  erasedAt: instant('erased_at'),
  rule: text<ErasureRule>('rule'),
  /** A reference such as a file number; empty if there is none. Everybody reads it. */
  reference: text('reference'),
})

/** An erasure, with what is left of the receipt. */
export type ErasureRow = RowOf<typeof erasures>

/** Takes the content of these receipts out of the rows of one table. @param left what their claims hold from now on */
export type Erase = (db: Db, erased: readonly ErasureRow[], left: readonly ErasedContent[]) => Promise<void>

/** A schema's tables, some of which hold content of receipts. */
export interface WithErasures {
  readonly tables: readonly { readonly erase?: Erase }[]
}

const remains = part(erasures, 'receiptId', 'logId', 'leafIndex', 'leafHash', 'issuedAt')

/** The part of an erased receipt that stays. */
export type Remains = RowOf<typeof remains>

const agedClaims = extended(part(claims, 'claimId', 'submittedAt', 'agentId', 'receiptId', 'logId'), {
  /** The time when the claim was decided; null for an undecided claim. For a receipt in an archive, its claim's deadline. */
  issuedAt: nullable(instant('issued_at')),
})

/** A claim that its workspace's retention examines. */
export type AgedClaim = RowOf<typeof agedClaims>

const sameOutcomes = part(claims, 'claimId', 'receiptId')

/** A claim of the same target and params. */
export type SameOutcome = RowOf<typeof sameOutcomes>

export function erasureReads(db: Db) {
  const { texts } = db.dialect

  return {
    /** Finds the erasures of those of these receipts that are erased, in any order. */
    async byReceiptIds(receiptIds: readonly string[]): Promise<ErasureRow[]> {
      return selectRows(db, erasures, `WHERE receipt_id IN ${texts}`, [JSON.stringify(receiptIds)])
    },
    /** Finds the erasures of those of these claims that are erased, in any order. */
    async byClaimIds(claimIds: readonly string[]): Promise<ErasureRow[]> {
      return selectRows(db, erasures, `WHERE claim_id IN ${texts}`, [JSON.stringify(claimIds)])
    },
    /** Lists erasures, the latest first. */
    async list(limit: number): Promise<ErasureRow[]> {
      return selectRows(db, erasures, 'ORDER BY erased_at DESC, receipt_id LIMIT ?', [limit])
    },
    /** Finds other claims of the workspace that are not erased, with the same target and the same params. */
    async sameOutcome({ workspaceId, claimId, target, params }: ClaimRow, limit: number): Promise<SameOutcome[]> {
      const rest = 'WHERE workspace_id = ? AND target = ? AND params = ? AND claim_id <> ? ORDER BY claim_id LIMIT ?'
      return selectRows(db, sameOutcomes, rest, [workspaceId, target, JSON.stringify(params), claimId, limit])
    },
    /** Finds the claim of a receipt. */
    async claimOf(receiptId: string): Promise<ClaimRow | undefined> {
      return selectRow(db, claims, 'WHERE receipt_id = ?', [receiptId])
    },
    /** Finds a claim by its own id, in any workspace. */
    async claim(claimId: string): Promise<ClaimRow | undefined> {
      return selectRow(db, claims, 'WHERE claim_id = ?', [claimId])
    },
    /** Counts the claims of a workspace that were submitted before then and hold their content, up to `most`. */
    async agedCount(workspaceId: string, before: Instant, most: number): Promise<number> {
      const some = `SELECT 1 FROM claims WHERE workspace_id = ? AND submitted_at < ? AND agent_id <> '' AND state = 'decided' LIMIT ?`
      return countRows(db, `(${some}) AS some_claims`, [workspaceId, before, most])
    },
    /** Lists the next claims of a workspace that were submitted from one moment on and before another. */
    async aged(workspaceId: string, after: ClaimPosition, before: Instant, limit: number): Promise<AgedClaim[]> {
      const sql = `SELECT claims.claim_id, submitted_at, agent_id, claims.receipt_id, claims.log_id,
          CASE WHEN claims.receipt_id IS NOT NULL THEN COALESCE(receipts.issued_at, deadline_at) END AS issued_at FROM claims
        LEFT JOIN receipts ON ${RECEIPT_OF_CLAIM}
        WHERE workspace_id = ? AND (submitted_at, claims.claim_id) > (?, ?) AND submitted_at < ?
        ORDER BY submitted_at, claims.claim_id LIMIT ?`
      const bindings = [workspaceId, after.submittedAt, after.claimId, before, limit]
      return (await db.query(sql, bindings)).map(agedClaims.read)
    },
  }
}

export function erasureWrites(db: Db, { tables }: WithErasures) {
  const { texts, forUpdate } = db.dialect

  return {
    ...erasureReads(db),
    /** Locks the claims of those of these receipts that are not erased. No other transaction erases them until this one ends. */
    async lock(receiptIds: readonly string[]): Promise<ClaimRow[]> {
      const which = `WHERE receipt_id IN ${texts} AND agent_id <> ''`
      return selectRows(db, claims, `${which} ORDER BY claim_id ${forUpdate}`, [JSON.stringify(receiptIds)])
    },
    /** Reads what will be left of these receipts once they are erased, of those that the tables have. */
    async remains(receiptIds: readonly string[]): Promise<Remains[]> {
      const sql = `SELECT receipts.receipt_id, receipts.log_id, leaf_index, leaf_hash, issued_at FROM claims
        JOIN receipts ON ${RECEIPT_OF_CLAIM} WHERE claims.receipt_id IN ${texts}`
      return (await db.query(sql, [JSON.stringify(receiptIds)])).map(remains.read)
    },
    /**
     * Erases the content of receipts from all tables that hold it.
     * @param erased locked receipts, none of them erased before
     * @param left what their claims hold from now on
     */
    async erase(erased: readonly ErasureRow[], left: readonly ErasedContent[]): Promise<void> {
      // The rows come first, because the triggers require them. A transaction that stores a claim again, and waits for this one, must not go by what
      // was there before.
      await insertRows(db, erasures, erased)
      await db.query('UPDATE logs SET erasures = erasures + 1 WHERE ended_at IS NULL')
      for (const { erase } of tables) await erase?.(db, erased, left)
    },
  }
}
