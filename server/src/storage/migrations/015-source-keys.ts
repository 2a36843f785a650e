/** Migration 15: the key, sealed, that names the withheld address of a connection in receipts. Null: it follows from SECRET_KEY. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE connections ADD COLUMN source_key text')
}
