/** The tables of the log, and of the keys that sign it. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const logMigrations = {
  '006-log': { up },
  '015-log-witnesses': { up: addWitnessed },
  '018-log-moves': { up: addMoves },
}

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await createKeys(db)
  await createLogs(db)
  await createLostReceipts(db)
  if (dialect.shared) await createHosts(db)
  const { appendOnly, compareBytes } = dialect.migrations
  const statements = [
    ...['receipts', 'evidence', 'tiles', 'tree_heads'].flatMap((table) => appendOnly(table)),
    ...compareBytes('receipts', ['log_id', 'receipt_id', 'claim_id']),
    ...compareBytes('evidence', ['log_id', 'receipt_id']),
    ...['logs', 'tree_heads', 'tiles'].flatMap((table) => compareBytes(table, ['log_id'])),
  ]
  for (const sql of statements) await db.raw(sql)
}

/** What databases before this one had. */
async function createLostReceipts(db: MigrationDb): Promise<void> {
  await db.schema.createTable('lost_receipts', (table) => {
    table.text('receipt_id').primary()
    table.text('log_id').notNullable()
    table.bigInteger('leaf_index').notNullable()
    table.binary('leaf_hash').notNullable()
    table.index(['log_id', 'leaf_index'])
  })
}

/** Hosts that run, and what each compared with what it remembers. Standbys have it, too. */
async function createHosts(db: MigrationDb): Promise<void> {
  await db.schema.createTable('log_hosts', (table) => {
    table.text('host_id').primary()
    table.bigInteger('until').notNullable()
    table.text('compared_on').notNullable()
    table.bigInteger('asked').notNullable()
    table.bigInteger('answered').notNullable()
    // The id of a log; empty: none.
    table.text('knows').notNullable()
  })
}

async function createKeys(db: MigrationDb): Promise<void> {
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
async function createLogs(db: MigrationDb): Promise<void> {
  await db.schema.createTable('logs', (table) => {
    table.text('log_id').primary()
    table.text('name').notNullable()
    table.bigInteger('begun_at').notNullable()
    // Null: it is open.
    table.bigInteger('ended_at')
    // Its archive has been written and checked: its rows may be taken out.
    table.bigInteger('archived_at')
    // A signed tree head that its rows lack: they are a backup's, and nothing may be appended.
    table.text('contradicted_by')
    // As what the database answered when hosts agreed that it is the newest: where it answers otherwise, nothing is appended.
    table.text('agreed_on').notNullable()
    table.text('agreed_system').notNullable()
    // The backup that its rows were restored from: until the operator has decided, nothing may be appended.
    table.text('restored_from')
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
}

/** The head of a client for which a log stopped, once. */
async function addWitnessed(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('logs', (table) => {
    table.text('witnessed')
  })
}

/** How a log came into this database, and which process runs a host: data folders are cloned. */
async function addMoves(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.alterTable('logs', (table) => {
    table.text('moves')
  })
  if (!dialect.shared) return
  await db.schema.alterTable('log_hosts', (table) => {
    table.text('process').notNullable().defaultTo('')
  })
}
