/** Migration 16: counts of failed guesses and of registrations. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  await db.schema.createTable('tallies', (table) => {
    table.text('subject').primary()
    table.integer('count').notNullable()
    table.bigInteger('next_at').notNullable()
    table.bigInteger('expires_at').notNullable()
    table.index(['expires_at'], 'tallies_expiry')
  })
  for (const sql of dialect.migrations.compareBytes('tallies', ['subject'])) await db.raw(sql)
}
