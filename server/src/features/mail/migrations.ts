/** The table of mails that wait to be sent. */
import type { MigrationDb } from '../../storage/schema.ts'

export const mailMigrations = { '010-mail': { up } }

async function up(db: MigrationDb): Promise<void> {
  await db.schema.createTable('mails', (table) => {
    table.text('id').primary()
    // The kind is message or reset.
    table.text('kind').notNullable()
    table.text('recipient').notNullable()
    // Sealed JSON: a mail may hold a link that signs its reader in. Null for a reset, which is written when it is sent.
    table.text('content')
    // Of several mails with the same text in this column, the first alone is stored.
    table.text('once').unique()
    // The id of the link in the mail.
    table.text('about').index()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('due_at').notNullable()
    table.integer('attempts').notNullable()
    // The time of sending, set only where `once` keeps the row.
    table.bigInteger('sent_at')
  })
  await db.raw('CREATE INDEX mails_due ON mails (due_at) WHERE sent_at IS NULL')
}
