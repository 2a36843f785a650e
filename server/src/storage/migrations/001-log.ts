/** The log, its keys, its anchors, and what was erased of its receipts. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  await createKeys(db)
  await createLogs(db)
  await createAnchors(db)
  const { appendOnly, compareBytes, allowErasure } = dialect.migrations
  const statements = [
    ...['receipts', 'evidence', 'tiles', 'tree_heads', 'erasures'].flatMap((table) => appendOnly(table)),
    ...compareBytes('receipts', ['log_id', 'receipt_id', 'claim_id']),
    ...compareBytes('evidence', ['log_id', 'receipt_id']),
    ...['logs', 'tree_heads', 'tiles', 'erasures'].flatMap((table) => compareBytes(table, ['log_id'])),
    ...compareBytes('erasures', ['receipt_id', 'claim_id']),
    ...allowErasure('receipts', 'UPDATE', `NEW.entry = '' AND ${unchanged} AND ${isErased('receipt_id')}`),
    ...allowErasure('evidence', 'DELETE', isErased('receipt_id')),
    ...allowErasure('checks', 'DELETE', isErased('claim_id')),
  ]
  for (const sql of statements) await db.raw(sql)
}

const KEPT = ['log_id', 'leaf_index', 'receipt_id', 'claim_id', 'leaf_hash', 'issued_at']
const unchanged = KEPT.map((column) => `NEW.${column} = OLD.${column}`).join(' AND ')

function isErased(column: string): string {
  return `EXISTS (SELECT 1 FROM erasures WHERE erasures.${column} = OLD.${column})`
}

async function createKeys(db: Knex): Promise<void> {
  await db.schema.createTable('signing_keys', (table) => {
    table.text('key_id').primary()
    table.text('public_key').notNullable()
    table.bigInteger('valid_from').notNullable()
    table.bigInteger('revoked_at')
  })

  // Private keys of installations that keep them in the database, sealed under SECRET_KEY.
  await db.schema.createTable('sealed_signing_keys', (table) => {
    // A key is stored before it is listed: the reference is checked when the transaction ends.
    table.text('key_id').primary().references('signing_keys.key_id').deferrable('deferred')
    table.text('sealed').notNullable()
  })
}

/** The keys of what a log holds begin with its id, so that the rows of a log that has ended can be taken out together. */
async function createLogs(db: Knex): Promise<void> {
  await db.schema.createTable('logs', (table) => {
    table.text('log_id').primary()
    table.text('name').notNullable()
    table.bigInteger('begun_at').notNullable()
    // Null: it is open.
    table.bigInteger('ended_at')
    // Its archive has been written and checked: its rows may be taken out.
    table.bigInteger('archived_at')
    // Goes up with each erasure, while it is open: who waited meanwhile sees that what it read is old.
    table.bigInteger('erasures').notNullable()
  })
  await db.raw('CREATE UNIQUE INDEX logs_open ON logs ((ended_at IS NULL)) WHERE ended_at IS NULL')

  // What was signed of each state of a log. The newest is the log's state: who inserts the next number has appended.
  await db.schema.createTable('tree_heads', (table) => {
    table.text('log_id').notNullable().references('logs.log_id')
    table.bigInteger('number').notNullable()
    table.bigInteger('tree_size').notNullable()
    table.binary('root_hash').notNullable()
    table.bigInteger('issued_at').notNullable()
    table.text('key_id').notNullable().references('signing_keys.key_id')
    table.text('signed').notNullable()
    table.primary(['log_id', 'number'])
    table.index(['log_id', 'tree_size'])
  })

  await db.schema.createTable('receipts', (table) => {
    table.text('log_id').notNullable()
    table.bigInteger('leaf_index').notNullable()
    table.text('receipt_id').notNullable()
    table.text('claim_id').notNullable().references('claims.claim_id')
    table.binary('leaf_hash').notNullable()
    table.bigInteger('issued_at').notNullable()
    // JCS of { body, signature }: the exact bytes that the leaf hashes.
    table.text('entry').notNullable()
    table.primary(['log_id', 'leaf_index'])
    table.unique(['log_id', 'receipt_id'])
  })
  // Leaves are found by their hashes within parts of the log: hashes are random, and an index over all of them writes a page for each leaf.
  await db.raw('CREATE INDEX receipts_leaf_hash ON receipts (log_id, (leaf_index / 1024), leaf_hash)')

  await db.schema.createTable('evidence', (table) => {
    table.text('log_id').notNullable()
    table.text('receipt_id').notNullable()
    // Exactly the bytes whose digest the receipt signs.
    table.text('document').notNullable()
    table.primary(['log_id', 'receipt_id'])
    table.foreign(['log_id', 'receipt_id']).references(['log_id', 'receipt_id']).inTable('receipts')
  })

  await db.schema.createTable('tiles', (table) => {
    table.text('log_id').notNullable()
    table.integer('level').notNullable()
    table.bigInteger('tile_index').notNullable()
    table.integer('width').notNullable()
    table.binary('hashes').notNullable()
    table.primary(['log_id', 'level', 'tile_index', 'width'])
  })

  // With what is left of the receipt: it outlives the receipt's row, which goes with its log.
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
}

async function createAnchors(db: Knex): Promise<void> {
  await db.schema.createTable('anchors', (table) => {
    table.integer('id').primary()
    table.text('log_id').notNullable()
    table.bigInteger('tree_size').notNullable()
    table.binary('root_hash').notNullable()
    // The anchor before it, by its id; null for the first of a log.
    table.integer('previous_id').references('anchors.id')
    table.text('chain').notNullable()
    table.text('scheme').notNullable()
    table.text('attester').notNullable()
    table.text('schema').notNullable()
    // planned, signed, sent, mined, final or dropped.
    table.text('state').notNullable()
    // Every transaction that was signed for it, as JSON, oldest first: all of one nonce.
    table.text('signed').notNullable()
    // Why it is held up, or why it was dropped: a code.
    table.text('problem')
    table.bigInteger('planned_at').notNullable()
    table.bigInteger('sent_at')
    // The rest is null until it is final.
    table.text('uid').unique()
    table.text('tx_hash')
    table.bigInteger('block_number')
    table.bigInteger('block_time')
    table.text('cost')
    table.bigInteger('gas_used')
  })
  // One at a time: the next names this one as its previous.
  await db.raw(
    `CREATE UNIQUE INDEX anchors_open ON anchors (log_id) WHERE state IN ('planned', 'signed', 'sent', 'mined')`,
  )
  await db.raw(`CREATE UNIQUE INDEX anchors_final ON anchors (log_id, tree_size) WHERE state = 'final'`)
}
