/** The tables of hosts: what they share while they run. No copy takes these rows along. */
import { rateCounters } from '../storage/counters.ts'
import type { Dialect } from '../storage/dialect.ts'
import { leases } from '../storage/leases.ts'
import type { MigrationDb, Stored } from '../storage/schema.ts'

export const HOST_STORED: Stored = {
  tables: [
    { table: leases, isCopied: false },
    { table: rateCounters, isCopied: false, isShared: true },
  ],
  migrations: { '000-hosts': { up }, '017-migration-digests': { up: addDigests } },
}

async function up(db: MigrationDb, { shared }: Dialect): Promise<void> {
  await db.schema.createTable('leases', (table) => {
    table.text('name').primary()
    table.text('holder').notNullable()
    table.bigInteger('until').notNullable()
  })
  if (!shared) return
  // Counts of one minute are worthless after a crash, so this table stays out of the write-ahead log.
  await db.raw(`${shared.createUnlogged} rate_counters (limiter text NOT NULL, subject text NOT NULL,
    window_start bigint NOT NULL, count integer NOT NULL, PRIMARY KEY (window_start, limiter, subject))`)
}

async function addDigests(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('migrations', (table) => {
    // A digest of the statements that the migration ran; null until its transaction ends, and while the schema lacks what the migration makes now.
    table.text('digest')
  })
}
