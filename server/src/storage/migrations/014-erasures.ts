/** Migration 14: the content of receipts can be erased, by an operator or by the retention of a workspace. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  const { appendOnly, compareBytes, allowErasure } = dialect.migrations
  await db.schema.createTable('erasures', (table) => {
    table.text('receipt_id').primary().references('receipts.receipt_id')
    table.text('claim_id').notNullable().unique().references('claims.claim_id')
    table.bigInteger('erased_at').notNullable()
    table.text('rule').notNullable()
    table.text('reference').notNullable()
    table.index(['erased_at', 'receipt_id'], 'erasures_latest')
  })
  await db.schema.createTable('retentions', (table) => {
    table.text('workspace_id').primary().references('workspaces.id')
    table.integer('days').notNullable()
    table.bigInteger('changed_at').notNullable()
    table.bigInteger('erased_before').notNullable()
  })
  const statements = [
    ...appendOnly('erasures'),
    ...compareBytes('erasures', ['receipt_id', 'claim_id']),
    ...compareBytes('retentions', ['workspace_id']),
    ...allowErasure('receipts', 'UPDATE', `NEW.entry = '' AND ${unchanged} AND ${isErased('receipt_id')}`),
    ...allowErasure('evidence', 'DELETE', isErased('receipt_id')),
    ...allowErasure('checks', 'DELETE', isErased('claim_id')),
  ]
  for (const sql of statements) await db.raw(sql)
}

const KEPT = ['leaf_index', 'receipt_id', 'claim_id', 'leaf_hash', 'issued_at']
const unchanged = KEPT.map((column) => `NEW.${column} = OLD.${column}`).join(' AND ')

function isErased(column: string): string {
  return `EXISTS (SELECT 1 FROM erasures WHERE erasures.${column} = OLD.${column})`
}
