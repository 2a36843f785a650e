/** Migration 10: whoever has the hash of a leaf finds it in the log. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw('CREATE INDEX receipts_leaf_hash ON receipts (leaf_hash)')
}
