/** The tables of erasure: the retentions of workspaces, and the erased receipts. The triggers of append-only tables let erased content go. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const erasureMigrations = { '007-erasure': { up } }

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  // Retentions: how long workspaces keep the content of their receipts.
  await db.schema.createTable('retentions', (table) => {
    table.text('workspace_id').primary().references('workspaces.id')
    table.integer('days').notNullable()
    table.bigInteger('changed_at').notNullable()
    table.bigInteger('erased_before').notNullable()
  })

  // Erasures, with what is left of the receipt: they outlive the receipt's row, which goes with its log.
  await db.schema.createTable('erasures', (table) => {
    table.text('receipt_id').primary()
    table.text('claim_id').notNullable().unique().references('claims.claim_id')
    table.text('log_id').notNullable()
    table.bigInteger('leaf_index').notNullable()
    table.binary('leaf_hash').notNullable()
    table.bigInteger('issued_at').notNullable()
    table.bigInteger('erased_at').notNullable()
    table.text('rule').notNullable()
    table.text('reference').notNullable()
    table.index(['erased_at', 'receipt_id'], 'erasures_latest')
  })

  const { appendOnly, compareBytes, allowErasure } = dialect.migrations
  const statements = [
    ...appendOnly('erasures'),
    ...compareBytes('retentions', ['workspace_id']),
    ...compareBytes('erasures', ['log_id', 'receipt_id', 'claim_id']),
    ...allowErasure('receipts', 'UPDATE', `NEW.entry = '' AND ${UNCHANGED} AND ${isErased('receipt_id')}`),
    ...allowErasure('evidence', 'DELETE', isErased('receipt_id')),
    ...allowErasure('checks', 'DELETE', isErased('claim_id')),
  ]
  for (const sql of statements) await db.raw(sql)
}

const KEPT = ['log_id', 'leaf_index', 'receipt_id', 'claim_id', 'leaf_hash', 'issued_at']
const UNCHANGED = KEPT.map((column) => `NEW.${column} = OLD.${column}`).join(' AND ')

function isErased(column: string): string {
  return `EXISTS (SELECT 1 FROM erasures WHERE erasures.${column} = OLD.${column})`
}
