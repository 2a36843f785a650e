/** Migration 2: what several hosts share. The log's row holds its newest head, so that an append reads one locked row and no other. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, { shared }: Dialect): Promise<void> {
  await db.schema.alterTable('log', (table) => {
    table.binary('root_hash')
    table.bigInteger('issued_at')
  })
  const newest = (column: string) =>
    db('tree_heads')
      .select(column)
      .orderBy([
        { column: 'tree_size', order: 'desc' },
        { column: 'issued_at', order: 'desc' },
      ])
      .limit(1)
  await db('log').update({ root_hash: newest('root_hash'), issued_at: newest('issued_at') })

  // Logs that ended: their heads were signed, and their entries went on under another id.
  await db.schema.createTable('retired_logs', (table) => {
    table.text('log_id').primary()
    table.text('name').notNullable()
    table.bigInteger('retired_at').notNullable()
  })

  // Private keys of installations that keep them in the database, sealed under SECRET_KEY.
  await db.schema.createTable('sealed_signing_keys', (table) => {
    // A key is stored before it is listed: the reference is checked when the transaction ends.
    table.text('key_id').primary().references('signing_keys.key_id').deferrable('deferred')
    table.text('sealed').notNullable()
  })

  // The queue is ordered by time, and passes over busy destinations without reading their claims.
  await db.raw('DROP INDEX claims_due')
  await db.raw(
    `CREATE INDEX claims_due ON claims (due_at, COALESCE(connection_id, profile_action), claim_id) WHERE state = 'queued'`,
  )

  if (!shared) return
  // Counts of one minute are worthless after a crash: they are not written to the write-ahead log.
  await db.raw(`${shared.createUnlogged} rate_counters (limiter text NOT NULL, subject text NOT NULL, window_start bigint NOT NULL,
    count integer NOT NULL, PRIMARY KEY (window_start, limiter, subject))`)
}
