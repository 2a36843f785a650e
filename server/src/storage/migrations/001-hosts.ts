/** What hosts share while they run, and the audit trail. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, { migrations, shared }: Dialect): Promise<void> {
  // No references: an entry outlives what it is about.
  await db.schema.createTable('audit_trail', (table) => {
    table.bigInteger('position').primary()
    table.bigInteger('at').notNullable()
    table.text('event').notNullable()
    table.text('actor_kind').notNullable()
    table.text('actor_id')
    table.text('address')
    table.text('workspace_id')
    table.text('user_id')
    table.text('subject')
    // JSON.
    table.text('details').notNullable()
    table.binary('hash').notNullable()
    table.index(['workspace_id', 'position'], 'audit_trail_workspace')
    table.index(['user_id', 'position'], 'audit_trail_user')
  })
  await db.schema.createTable('audit_trail_head', (table) => {
    table.integer('id').primary()
    table.bigInteger('last_position').notNullable()
    table.binary('last_hash').notNullable()
    table.bigInteger('first_position').notNullable()
    table.binary('before_hash').notNullable()
  })

  // Leases on work that one host does at a time.
  await db.schema.createTable('leases', (table) => {
    table.text('name').primary()
    table.text('holder').notNullable()
    table.bigInteger('until').notNullable()
  })

  // Counts of failed guesses and of registrations.
  await db.schema.createTable('throttles', (table) => {
    table.text('subject').primary()
    table.integer('count').notNullable()
    table.bigInteger('next_at').notNullable()
    table.bigInteger('expires_at').notNullable()
    table.index(['expires_at'], 'tallies_expiry')
  })

  await db.schema.createTable('mails', (table) => {
    table.text('id').primary()
    // message or reset.
    table.text('kind').notNullable()
    table.text('recipient').notNullable()
    // Sealed JSON: a mail may hold a link that signs its reader in. Null for a reset, which is written when it is sent.
    table.text('content')
    // Of several mails with the same text here only the first is stored.
    table.text('once').unique()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('due_at').notNullable()
    table.integer('attempts').notNullable()
    // Only where `once` keeps the row.
    table.bigInteger('sent_at')
  })

  const statements = [
    ...migrations.keepFrom('audit_trail', 'position', 'audit_trail_head', 'first_position'),
    ...migrations.compareBytes('throttles', ['subject']),
    'CREATE INDEX mails_due ON mails (due_at) WHERE sent_at IS NULL',
    // Counts of one minute are worthless after a crash: they are not written to the write-ahead log.
    ...(shared
      ? [
          `${shared.createUnlogged} rate_counters (limiter text NOT NULL, subject text NOT NULL, window_start bigint NOT NULL,
            count integer NOT NULL, PRIMARY KEY (window_start, limiter, subject))`,
        ]
      : []),
  ]
  for (const sql of statements) await db.raw(sql)
}
