/** The sites from which scripts may submit claims with the keys of a workspace. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { insertRows, selectRow, selectRows } from './rows.ts'
import { instant, table, text } from './table.ts'

export const allowedOrigins = table('allowed_origins', ['workspaceId', 'origin'], {
  workspaceId: text('workspace_id'),
  /** An origin as browsers write it: `https://app.example.com`. */
  origin: text('origin'),
  listedAt: instant('listed_at'),
})

export function allowedOriginReads(db: Db) {
  return {
    /** Lists the origins of a workspace in alphabetical order. */
    async of(workspaceId: string): Promise<string[]> {
      const rows = await selectRows(db, allowedOrigins, 'WHERE workspace_id = ? ORDER BY origin', [workspaceId])
      return rows.map(({ origin }) => origin)
    },
    async has(workspaceId: string, origin: string): Promise<boolean> {
      return (
        (await selectRow(db, allowedOrigins, 'WHERE workspace_id = ? AND origin = ?', [workspaceId, origin])) !==
        undefined
      )
    },
    /** Picks those of these origins that any workspace lists. */
    async listed(origins: readonly string[]): Promise<string[]> {
      const sql = `SELECT DISTINCT origin FROM allowed_origins WHERE origin IN ${db.dialect.texts}`
      return (await db.query(sql, [JSON.stringify(origins)])).map(({ origin }) => String(origin))
    },
  }
}

export function allowedOriginWrites(db: Db) {
  return {
    ...allowedOriginReads(db),
    /** Replaces the origins that a workspace lists. */
    async set(workspaceId: string, origins: readonly string[], at: Instant): Promise<void> {
      await db.query('DELETE FROM allowed_origins WHERE workspace_id = ?', [workspaceId])
      if (origins.length === 0) return
      const rows = origins.map((origin) => ({ workspaceId, origin, listedAt: at }))
      await insertRows(db, allowedOrigins, rows)
    },
  }
}
