/** The table of anchors. */
import type { MigrationDb } from '../../storage/schema.ts'

export const anchoringMigrations = { '008-anchoring': { up } }

async function up(db: MigrationDb): Promise<void> {
  await db.schema.createTable('anchors', (table) => {
    table.integer('id').primary()
    table.text('log_id').notNullable()
    table.bigInteger('tree_size').notNullable()
    table.binary('root_hash').notNullable()
    // The previous anchor, by its id; null for the first of a log.
    table.integer('previous_id').references('anchors.id')
    table.text('chain').notNullable()
    table.text('scheme').notNullable()
    table.text('attester').notNullable()
    table.text('schema').notNullable()
    // The state: planned, signed, sent, mined, final or dropped.
    table.text('state').notNullable()
    // Every transaction that was signed for the anchor, as JSON, oldest first: all of one nonce.
    table.text('signed').notNullable()
    // A code for the reason that the anchor is held up, or was dropped.
    table.text('problem')
    table.bigInteger('planned_at').notNullable()
    table.bigInteger('sent_at')
    // Columns from here on are null until the anchor is final.
    table.text('uid').unique()
    table.text('tx_hash')
    table.bigInteger('block_number')
    table.bigInteger('block_time')
    table.text('cost')
    table.bigInteger('gas_used')
  })
  // At most one anchor of a log is open at a time, because the next one names it as its previous.
  await db.raw(
    `CREATE UNIQUE INDEX anchors_open ON anchors (log_id) WHERE state IN ('planned', 'signed', 'sent', 'mined')`,
  )
  await db.raw(`CREATE UNIQUE INDEX anchors_final ON anchors (log_id, tree_size) WHERE state = 'final'`)
}
