/** Migration 1: workspaces, keys, connections, claims with their checks, and the log. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

/** Rows of these tables are never changed and never deleted. */
const APPEND_ONLY = ['checks', 'receipts', 'tiles', 'tree_heads']

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  await db.schema.createTable('workspaces', (table) => {
    table.text('id').primary()
    table.text('name').notNullable().unique()
    table.bigInteger('created_at').notNullable()
  })

  await db.schema.createTable('api_keys', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('name').notNullable()
    table.text('key_hash').notNullable().unique()
    table.text('last_four').notNullable()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('revoked_at')
  })

  await db.schema.createTable('connections', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id').index()
    table.text('provider').notNullable()
    table.text('options').notNullable()
    table.text('sealed_secrets').notNullable()
    table.text('scopes').notNullable()
    table.bigInteger('connected_at').notNullable()
    table.bigInteger('disconnected_at')
  })

  await db.schema.createTable('claims', (table) => {
    table.text('claim_id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('client_claim_id').notNullable()
    table.text('agent_id').notNullable()
    table.text('action').notNullable()
    table.text('target').notNullable()
    table.text('params').notNullable()
    table.bigInteger('claimed_at').notNullable()
    table.bigInteger('deadline_at').notNullable()
    table.bigInteger('submitted_at').notNullable()
    table.text('claim_digest').notNullable()
    table.text('access').notNullable()
    table.text('connection_id').references('connections.id')
    table.text('profile_action').notNullable()
    table.text('profile_version').notNullable()
    table.text('state').notNullable()
    table.integer('attempts').notNullable()
    // The queue: when the claim is next handed to a worker, which moves this to the end of the worker's lease.
    table.bigInteger('due_at')
    table.bigInteger('next_check_at')
    table.text('last_check')
    table.text('receipt_id')
    table.text('verdict')
    table.text('reason_code')
    table.unique(['workspace_id', 'client_claim_id'])
    table.index(['workspace_id', 'submitted_at', 'claim_id'])
  })
  await db.raw(`CREATE INDEX claims_due ON claims (due_at) WHERE state = 'queued'`)

  await db.schema.createTable('checks', (table) => {
    table.text('claim_id').notNullable().references('claims.claim_id')
    table.integer('attempt').notNullable()
    table.text('record').notNullable()
    table.primary(['claim_id', 'attempt'])
  })

  await db.schema.createTable('signing_keys', (table) => {
    table.text('key_id').primary()
    table.text('public_key').notNullable()
    table.bigInteger('valid_from').notNullable()
    table.bigInteger('revoked_at')
  })

  // One row: which log this is, its size, and the key that signs. Every append compares and swaps it.
  await db.schema.createTable('log', (table) => {
    table.integer('id').primary()
    table.text('log_id').notNullable()
    table.text('name').notNullable()
    table.bigInteger('tree_size').notNullable()
    table.text('key_id').notNullable().references('signing_keys.key_id')
  })

  await db.schema.createTable('receipts', (table) => {
    table.bigInteger('leaf_index').primary()
    table.text('receipt_id').notNullable().unique()
    table.text('claim_id').notNullable().unique().references('claims.claim_id')
    table.binary('leaf_hash').notNullable()
    table.bigInteger('issued_at').notNullable()
    // JCS of { body, signature }: the exact bytes that the leaf hashes.
    table.text('entry').notNullable()
  })

  await db.schema.createTable('tiles', (table) => {
    table.integer('level').notNullable()
    table.bigInteger('tile_index').notNullable()
    table.integer('width').notNullable()
    table.binary('hashes').notNullable()
    table.primary(['level', 'tile_index', 'width'])
  })

  await db.schema.createTable('tree_heads', (table) => {
    table.bigInteger('tree_size').notNullable()
    table.bigInteger('issued_at').notNullable()
    table.binary('root_hash').notNullable()
    table.text('signed').notNullable()
    table.primary(['tree_size', 'issued_at'])
  })

  for (const table of APPEND_ONLY) {
    for (const sql of dialect.migrations.appendOnly(table)) await db.raw(sql)
  }
}
