/** Receipts that hosts signed, and that the database lacks since it was restored or replaced by a standby. */
import type { Db } from './db.ts'
import { insertRows, selectRows } from './rows.ts'
import { bigint, bytes, type RowOf, table, text } from './table.ts'

export const lostReceipts = table('lost_receipts', ['receiptId'], {
  receiptId: text('receipt_id'),
  logId: text('log_id'),
  leafIndex: bigint('leaf_index'),
  leafHash: bytes('leaf_hash'),
})

export type LostReceiptRow = RowOf<typeof lostReceipts>

export function lostReceiptReads(db: Db) {
  return {
    /** Lists the lost receipts of a log, in its order. */
    async ofLog(logId: string): Promise<LostReceiptRow[]> {
      return selectRows(db, lostReceipts, 'WHERE log_id = ? ORDER BY leaf_index, receipt_id', [logId])
    },
    async byIds(receiptIds: readonly string[]): Promise<LostReceiptRow[]> {
      return selectRows(db, lostReceipts, `WHERE receipt_id IN ${db.dialect.texts}`, [JSON.stringify(receiptIds)])
    },
  }
}

export function lostReceiptWrites(db: Db) {
  return {
    ...lostReceiptReads(db),
    /** Inserts lost receipts. Those that other hosts have named already stay as they are. */
    async insert(rows: readonly LostReceiptRow[]): Promise<void> {
      await insertRows(db, lostReceipts, rows, 'ON CONFLICT (receipt_id) DO NOTHING')
    },
    /** Forgets the lost receipts of a log that has everything again. */
    async forget(logId: string): Promise<void> {
      await db.query('DELETE FROM lost_receipts WHERE log_id = ?', [logId])
    },
  }
}
