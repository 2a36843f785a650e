/** The table of machines: OAuth clients that act for a workspace. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const oauthMigrations = { '004-oauth': { up } }

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('machines', (table) => {
    // The machine's OAuth client id.
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id').index()
    table.text('name').notNullable()
    table.text('secret_hash').notNullable()
    table.text('last_four').notNullable()
    // Scopes are stored as JSON.
    table.text('scopes').notNullable()
    table.text('created_by').references('users.id')
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
    table.bigInteger('revoked_at')
  })
  for (const sql of dialect.migrations.compareBytes('machines', ['id', 'workspace_id'])) await db.raw(sql)
}
