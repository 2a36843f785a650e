/** The tables of hints: the addresses that take them, and the looks that they cause. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const hintMigrations = { '023-hints': { up } }

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('hint_addresses', (table) => {
    table.text('address').primary()
    table.text('connection_id').notNullable().references('connections.id').unique()
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('sealed_secret').notNullable()
    table.bigInteger('secret_since').notNullable()
    table.bigInteger('heard_at')
  })
  await db.schema.createTable('hints', (table) => {
    table.text('claim_id').primary().references('claims.claim_id')
    table.bigInteger('asked_at').notNullable()
    // The time when a host takes the look; taking it moves this to the end of the host's lease. Null while no look is wanted.
    table.bigInteger('due_at')
    table.bigInteger('next_from').notNullable()
    table.integer('looks').notNullable()
  })
  const { compareBytes } = dialect.migrations
  const statements = [
    'CREATE INDEX hints_due ON hints (due_at) WHERE due_at IS NOT NULL',
    ...compareBytes('hint_addresses', ['address', 'connection_id', 'workspace_id']),
    ...compareBytes('hints', ['claim_id']),
  ]
  for (const sql of statements) await db.raw(sql)
}
