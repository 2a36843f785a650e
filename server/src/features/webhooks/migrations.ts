/** The tables of webhooks: their targets, and the deliveries of events to them. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const webhookMigrations = {
  '022-webhooks': { up },
  '024-webhook-deliveries': { up: addIndex },
  '026-webhook-formats': { up: addFormats },
  '027-webhook-likeness': { up: addLikeness },
  '030-webhook-reports': { up: addReports },
}

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('webhook_targets', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id').index()
    table.text('origin').notNullable()
    // Sealed values: the URL may hold a secret as well. Null for a removed target.
    table.text('sealed_url')
    table.text('sealed_secret')
    table.text('sealed_former')
    table.bigInteger('former_until')
    // JSON: lists of types, verdicts, actions, agents and connections.
    table.text('filters').notNullable()
    // The state: on, off or removed.
    table.text('state').notNullable()
    table.text('off_reason')
    table.bigInteger('state_at').notNullable()
    // The number of the last event that was turned into a delivery.
    table.bigInteger('reached').notNullable()
    table.bigInteger('quiet_until')
    table.bigInteger('last_delivered_at')
    table.text('created_by').references('users.id')
    table.bigInteger('created_at').notNullable()
  })
  await db.schema.createTable('webhook_deliveries', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable()
    table.text('target_id').notNullable().references('webhook_targets.id')
    table.bigInteger('event_number').notNullable()
    table.text('type').notNullable()
    table.text('subject').notNullable()
    // The state: waiting, delivered or failed.
    table.text('state').notNullable()
    table.integer('attempts').notNullable()
    table.bigInteger('first_at')
    table.bigInteger('due_at').notNullable()
    table.bigInteger('leased_until')
    // Columns of the last try, null before it.
    table.bigInteger('tried_at')
    table.integer('status')
    table.integer('duration_ms')
    table.text('fault')
    table.bigInteger('created_at').notNullable()
    // An event becomes one delivery to a target.
    table.unique(['workspace_id', 'event_number', 'target_id'])
  })
  await db.raw(`CREATE INDEX webhook_deliveries_due ON webhook_deliveries (target_id, due_at) WHERE state = 'waiting'`)
  await db.raw(
    `CREATE INDEX webhook_deliveries_order ON webhook_deliveries (target_id, subject, event_number) WHERE state = 'waiting'`,
  )
  await db.raw(
    `CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (workspace_id, event_number) WHERE state = 'failed'`,
  )
  const statements = [
    ...dialect.migrations.compareBytes('webhook_targets', ['id', 'workspace_id']),
    ...dialect.migrations.compareBytes('webhook_deliveries', ['id', 'workspace_id', 'target_id', 'subject']),
  ]
  for (const sql of statements) await db.raw(sql)
}

/** Adds the index by which the deliveries of one target are listed, and by which one without any is removed. */
async function addIndex(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('webhook_deliveries', (table) => {
    table.index(['target_id', 'event_number'], 'webhook_deliveries_target')
  })
}

/** Adds the form in which a target gets its events. */
async function addFormats(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('webhook_targets', (table) => {
    table.text('format').notNullable().defaultTo('standard')
  })
}

/** Adds what makes deliveries like others. */
async function addLikeness(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('webhook_deliveries', (table) => {
    table.text('likeness')
  })
  // The state is in it, so that rounds look among those that wait, and not among all that were told in a month.
  await db.raw(
    'CREATE INDEX webhook_deliveries_likeness ON webhook_deliveries (target_id, likeness, state, due_at) WHERE likeness IS NOT NULL',
  )
}

/** Adds what a target needs that reports on commits. */
async function addReports(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('webhook_targets', (table) => {
    // JSON: the repositories, who reports, and the app; null for other targets.
    table.text('report')
  })
}
