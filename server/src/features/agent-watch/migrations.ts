/** The tables of the watch over agents. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const agentWatchMigrations = { '028-agent-watch': { up } }

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('silence_watches', (table) => {
    table.text('workspace_id').primary().references('workspaces.id')
    table.integer('hours').notNullable()
    // The ids of the agents that are watched, as a JSON list; an empty one for all.
    table.text('agents').notNullable()
    table.bigInteger('reached').notNullable()
  })
  await db.schema.createTable('rate_jumps', (table) => {
    table.text('claim_id').primary().references('claims.claim_id')
    table.bigInteger('told_at').notNullable()
  })
  const { compareBytes } = dialect.migrations
  for (const sql of [...compareBytes('silence_watches', ['workspace_id']), ...compareBytes('rate_jumps', ['claim_id'])])
    await db.raw(sql)
}
