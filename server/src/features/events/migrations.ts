/** The tables of events, and of what was told of each connection. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const eventMigrations = { '021-events': { up }, '025-connection-reads': { up: addReads } }

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('events', (table) => {
    table.text('workspace_id').notNullable()
    table.bigInteger('number').notNullable()
    table.text('type').notNullable()
    table.bigInteger('at').notNullable()
    // The id of the claim, the connection or the anchor.
    table.text('subject').notNullable()
    // The failure of a connection; null else.
    table.text('detail')
    table.primary(['workspace_id', 'number'])
  })
  await db.schema.createTable('event_heads', (table) => {
    table.text('workspace_id').primary()
    table.bigInteger('last_number').notNullable()
  })
  await db.schema.createTable('connection_health', (table) => {
    table.text('connection_id').primary().references('connections.id')
    // The time of the first failure since the last read, of a kind that says something about the connection.
    table.bigInteger('failing_since')
    // The time of the event that told of the failure; null once another told of the end.
    table.bigInteger('told_at')
    // The end of the credentials of which an event told.
    table.bigInteger('expiry_told')
  })
  const statements = [
    ...dialect.migrations.compareBytes('events', ['workspace_id']),
    ...dialect.migrations.compareBytes('event_heads', ['workspace_id']),
    ...dialect.migrations.compareBytes('connection_health', ['connection_id']),
  ]
  for (const sql of statements) await db.raw(sql)
}

async function addReads(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('connection_health', (table) => {
    // The time of the first read since the last failure, of a connection whose failure was told.
    table.bigInteger('read_since')
  })
}
