/** Migration 5: identifiers are compared byte by byte. A language's order takes longer and has no meaning for them. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

/** Columns of look-ups and orders, owners first. */
const IDENTIFIERS: Readonly<Record<string, readonly string[]>> = {
  workspaces: ['id'],
  api_keys: ['id', 'workspace_id', 'key_hash'],
  connections: ['id', 'workspace_id'],
  claims: ['claim_id', 'workspace_id', 'client_claim_id', 'connection_id', 'profile_action', 'state'],
  checks: ['claim_id'],
  receipts: ['receipt_id', 'claim_id'],
  members: ['workspace_id'],
  links: ['workspace_id'],
}

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  for (const [table, columns] of Object.entries(IDENTIFIERS)) {
    for (const sql of dialect.migrations.compareBytes(table, columns)) await db.raw(sql)
  }
}
