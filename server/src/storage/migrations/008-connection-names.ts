/** Migration 8: what the owners of a workspace call its connections. Null: nobody has named it. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE connections ADD COLUMN name text')
}
