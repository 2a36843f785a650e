/** The OAuth clients of machines, as rows. */
import type { Instant } from '@claimcheck/core/rules'
import type { Payer } from '../base/payers.ts'
import type { Db } from './db.ts'
import { payerOfWorkspace } from './payers.ts'
import { insertRows, selectRow, selectRows } from './rows.ts'
import { instant, json, nullable, type RowOf, table, text } from './table.ts'

export const machines = table('machines', ['id'], {
  /** The machine's OAuth client id. */
  id: text('id'),
  workspaceId: text('workspace_id'),
  name: text('name'),
  secretHash: text('secret_hash'),
  lastFour: text('last_four'),
  scopes: json<readonly string[]>('scopes'),
  /** The person who made the client; null for the command line. */
  createdBy: nullable(text('created_by')),
  createdAt: instant('created_at'),
  /** The time when the machine last asked for a token. */
  lastUsedAt: nullable(instant('last_used_at')),
  revokedAt: nullable(instant('revoked_at')),
})

export type MachineRow = RowOf<typeof machines>

export function machineReads(db: Db) {
  return {
    /** Finds a machine, with the payer of its workspace. */
    async byIds(ids: readonly string[]): Promise<(MachineRow & { readonly payer: Payer })[]> {
      const sql = `SELECT ${machines.names}, ${payerOfWorkspace('machines.workspace_id')} AS payer FROM machines WHERE id IN ${db.dialect.texts}`
      return (await db.query(sql, [JSON.stringify(ids)])).map((row) => ({
        ...machines.read(row),
        payer: String(row.payer),
      }))
    },
    /** Lists machines, oldest first. */
    async list(workspaceId?: string): Promise<MachineRow[]> {
      const order = 'ORDER BY created_at, id'
      return workspaceId === undefined
        ? selectRows(db, machines, order)
        : selectRows(db, machines, `WHERE workspace_id = ? ${order}`, [workspaceId])
    },
  }
}

export function machineWrites(db: Db) {
  return {
    ...machineReads(db),
    /** Reads a machine, and locks it until this transaction ends. */
    async lock(id: string): Promise<MachineRow | undefined> {
      return selectRow(db, machines, `WHERE id = ? ${db.dialect.forUpdate}`, [id])
    },
    async insert(machine: MachineRow): Promise<void> {
      await insertRows(db, machines, [machine])
    },
    async revoke(id: string, at: Instant): Promise<void> {
      await db.table(machines.name).where({ id }).update({ revoked_at: at })
    },
    /** Revokes all machines of a workspace. */
    async revokeAll(workspaceId: string, at: Instant): Promise<void> {
      const all = db.table(machines.name).where({ workspace_id: workspaceId }).whereNull('revoked_at')
      await all.update({ revoked_at: at })
    },
    /** Notes a use. When several hosts note one, the latest time stays. */
    async used(id: string, at: Instant): Promise<void> {
      const sql = 'UPDATE machines SET last_used_at = ? WHERE id = ? AND COALESCE(last_used_at, 0) < ?'
      await db.query(sql, [at, id, at])
    },
  }
}
