/** The tables of workspaces, and of the keys and connections that they own. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const workspaceMigrations = {
  '001-workspaces': { up: createWorkspaces },
  '003-keys': { up: createOwned },
  '017-holders': { up: createHolders },
}

async function createWorkspaces(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('workspaces', (table) => {
    table.text('id').primary()
    table.text('name').notNullable().unique()
    // The id of the account that made it; null: the command line. Accounts come later.
    table.text('paid_by').index()
    table.bigInteger('created_at').notNullable()
    // any, second_step or passkey.
    table.text('sign_in_rule').notNullable().defaultTo('any')
    table.bigInteger('deleted_at')
  })
  for (const sql of dialect.migrations.compareBytes('workspaces', ['id'])) await db.raw(sql)
}

async function createOwned(db: MigrationDb, dialect: Dialect): Promise<void> {
  await createKeys(db)
  await createConnections(db)
  const { compareBytes } = dialect.migrations
  const statements = [
    ...compareBytes('api_keys', ['id', 'workspace_id', 'key_hash']),
    ...compareBytes('bound_agents', ['workspace_id', 'agent_id']),
    ...compareBytes('bound_looks', ['workspace_id', 'look', 'agent_id']),
    ...compareBytes('connections', ['id', 'workspace_id']),
    ...compareBytes('allowed_origins', ['workspace_id', 'origin']),
  ]
  for (const sql of statements) await db.raw(sql)
}

async function createKeys(db: MigrationDb): Promise<void> {
  await db.schema.createTable('api_keys', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('name').notNullable()
    table.text('key_hash').notNullable().unique()
    table.text('last_four').notNullable()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('revoked_at')
    // Null: the command line.
    table.text('created_by').references('users.id')
    table.bigInteger('last_used_at')
    table.bigInteger('expires_at')
    // CIDR, as JSON; empty: from anywhere.
    table.text('networks').notNullable()
    // JSON; null: for every agent that is not bound.
    table.text('agent_ids')
    table.text('last_address')
    // The id of the key that a rotation made.
    table.text('replaced_by')
  })

  await db.schema.createTable('bound_agents', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('agent_id').notNullable()
    table.bigInteger('bound_at').notNullable()
    table.primary(['workspace_id', 'agent_id'])
  })

  // What bound agents look like, so that no other agent is taken for one.
  await db.schema.createTable('bound_looks', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('look').notNullable()
    table.text('agent_id').notNullable()
    // Of the table of characters that look alike.
    table.text('version').notNullable()
    table.primary(['workspace_id', 'look', 'agent_id'])
  })

  // The origins from which scripts may submit claims with the keys of a workspace.
  await db.schema.createTable('allowed_origins', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('origin').notNullable()
    table.bigInteger('listed_at').notNullable()
    table.primary(['workspace_id', 'origin'])
    table.index(['origin'], 'allowed_origins_by_origin')
  })
}

async function createConnections(db: MigrationDb): Promise<void> {
  await db.schema.createTable('connections', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id').index()
    // What the owners of the workspace call it, once they have named it.
    table.text('name')
    table.text('provider').notNullable()
    table.text('options').notNullable()
    table.text('sealed_secrets').notNullable()
    // What refresh tokens brought, by their options, each sealed.
    table.text('sealed_tokens').notNullable()
    // The key, sealed, that names the withheld address in receipts. Null: it follows from SECRET_KEY.
    table.text('source_key')
    table.text('scopes').notNullable()
    // published or withheld: whether receipts name its address.
    table.text('address').notNullable()
    table.bigInteger('connected_at').notNullable()
    // Null: the command line.
    table.text('connected_by').references('users.id')
    table.bigInteger('disconnected_at')
    // What the probe reported, for the owner, as JSON.
    table.text('notes').notNullable()
    table.bigInteger('last_read_at')
    table.bigInteger('last_failure_at')
    table.text('last_failure')
    // What a trial proved, and when; what it tried; when the credentials end. Null: not known.
    table.text('state')
    table.bigInteger('state_at')
    table.text('trial_target')
    table.bigInteger('expires_at')
  })
}

async function createHolders(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('holders', (table) => {
    table.text('workspace_id').primary().references('workspaces.id')
    // Sealed.
    table.text('agents_key').notNullable()
    table.text('domain')
    table.text('challenge')
    table.bigInteger('checked_at')
    table.bigInteger('proven_at')
    table.bigInteger('missing_at')
  })
  await db.raw('CREATE INDEX holders_checked ON holders (checked_at) WHERE proven_at IS NOT NULL')
  for (const sql of dialect.migrations.compareBytes('holders', ['workspace_id'])) await db.raw(sql)
}
