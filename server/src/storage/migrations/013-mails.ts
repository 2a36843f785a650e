/** Migration 13, second part: mails that wait to be sent. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('mails', (table) => {
    table.text('id').primary()
    // message or reset.
    table.text('kind').notNullable()
    table.text('recipient').notNullable()
    // Sealed JSON: a mail may hold a link that signs somebody in. Null for a reset, which is written when it is sent.
    table.text('content')
    // Of several mails with the same text here only the first is stored.
    table.text('once').unique()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('due_at').notNullable()
    table.integer('attempts').notNullable()
    // Only where `once` keeps the row.
    table.bigInteger('sent_at')
  })
  // From where each person has signed in, so that a sign-in from elsewhere is told.
  await db.schema.createTable('seen_browsers', (table) => {
    table.text('user_id').notNullable().references('users.id')
    // A hash.
    table.text('browser').notNullable()
    table.bigInteger('seen_at').notNullable()
    table.primary(['user_id', 'browser'])
  })
  await db.raw('CREATE INDEX mails_due ON mails (due_at) WHERE sent_at IS NULL')
}
