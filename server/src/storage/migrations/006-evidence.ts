/** Migration 6: the evidence of receipts, and whether a connection lets receipts name its address. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  await db.schema.createTable('evidence', (table) => {
    table.text('receipt_id').primary().references('receipts.receipt_id')
    // Exactly the bytes whose digest the receipt signs.
    table.text('document').notNullable()
  })
  for (const sql of dialect.migrations.appendOnly('evidence')) await db.raw(sql)
  for (const sql of dialect.migrations.compareBytes('evidence', ['receipt_id'])) await db.raw(sql)
  // published or withheld. Nobody was asked about those of before.
  await db.raw(`ALTER TABLE connections ADD COLUMN address text NOT NULL DEFAULT 'withheld'`)
}
