/** Migration 20: the sites whose scripts may submit claims with the keys of a workspace. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  await db.schema.createTable('workspace_sites', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('origin').notNullable()
    table.bigInteger('listed_at').notNullable()
    table.primary(['workspace_id', 'origin'])
    table.index(['origin'], 'workspace_sites_by_origin')
  })
  for (const sql of dialect.migrations.compareBytes('workspace_sites', ['workspace_id', 'origin'])) await db.raw(sql)
}
