/** Retentions: how long workspaces keep the content of their receipts. A workspace without a row keeps it for ever. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertRows, selectRow, selectRows } from './rows.ts'
import { instant, integer, type RowOf, table, text } from './table.ts'

export const retentions = table('retentions', ['workspaceId'], {
  workspaceId: text('workspace_id'),
  days: integer('days'),
  changedAt: instant('changed_at'),
  /** The time up to which content was erased: claims submitted before have none. */
  erasedBefore: instant('erased_before'),
})

export type RetentionRow = RowOf<typeof retentions>

export function retentionReads(db: Db) {
  return {
    async of(workspaceId: string): Promise<RetentionRow | undefined> {
      return selectRow(db, retentions, 'WHERE workspace_id = ?', [workspaceId])
    },
    async list(): Promise<RetentionRow[]> {
      return selectRows(db, retentions, 'ORDER BY workspace_id')
    },
  }
}

export function retentionWrites(db: Db) {
  return {
    ...retentionReads(db),
    /** Stores a retention, and keeps how far one from before has come: its erasures stay. */
    async set(retention: RetentionRow): Promise<void> {
      const suffix = 'ON CONFLICT (workspace_id) DO UPDATE SET days = excluded.days, changed_at = excluded.changed_at'
      await insertRows(db, retentions, [retention], suffix)
    },
    async remove(workspaceId: string): Promise<void> {
      await db.query('DELETE FROM retentions WHERE workspace_id = ?', [workspaceId])
    },
    /** Reads and locks the row until this transaction ends; undefined when it was removed. */
    async lock(workspaceId: string): Promise<RetentionRow | undefined> {
      return selectRow(db, retentions, `WHERE workspace_id = ? ${db.dialect.forUpdate}`, [workspaceId])
    },
    async cameTo(workspaceId: string, erasedBefore: Instant): Promise<void> {
      await db.query('UPDATE retentions SET erased_before = ? WHERE workspace_id = ?', [erasedBefore, workspaceId])
    },
  }
}
