/** The tables of revisits, and of the schedules that ask for them. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const revisitMigrations = { '029-revisits': { up } }

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('revisits', (table) => {
    table.text('revisit_id').primary()
    table.text('claim_id').notNullable().references('claims.claim_id')
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.integer('ordinal').notNullable()
    table.bigInteger('asked_at').notNullable()
    // owner or schedule.
    table.text('asked_by').notNullable()
    // Null once there is a result.
    table.bigInteger('due_at')
    table.bigInteger('began_at')
    // JSON: the record of each look, oldest first.
    table.text('looks').notNullable()
    table.integer('look_count').notNullable()
    table.text('result')
    table.bigInteger('ended_at')
    table.bigInteger('seen_at')
    table.text('found')
    table.text('evidence')
    table.text('finding_id').unique()
    table.text('log_id')
    table.bigInteger('leaf_index')
    table.unique(['claim_id', 'ordinal'])
  })
  await db.schema.createTable('revisit_schedules', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.integer('days').notNullable()
    table.bigInteger('submitted_at').notNullable()
    table.text('claim_id').notNullable()
    table.primary(['workspace_id', 'days'])
  })
  const { compareBytes } = dialect.migrations
  const statements = [
    'CREATE INDEX revisits_due ON revisits (due_at) WHERE due_at IS NOT NULL',
    'CREATE INDEX revisits_open ON revisits (workspace_id) WHERE result IS NULL',
    ...compareBytes('revisits', ['revisit_id', 'claim_id', 'workspace_id', 'finding_id', 'log_id']),
    ...compareBytes('revisit_schedules', ['workspace_id', 'claim_id']),
  ]
  for (const sql of statements) await db.raw(sql)
}
