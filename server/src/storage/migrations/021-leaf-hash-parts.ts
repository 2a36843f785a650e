/** Migration 21: the leaves are found by their hashes within parts of the log. Hashes are random: an index over the whole log wrote a page for each leaf. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw('DROP INDEX receipts_leaf_hash')
  await db.raw('CREATE INDEX receipts_leaf_hash ON receipts ((leaf_index / 1024), leaf_hash)')
}
