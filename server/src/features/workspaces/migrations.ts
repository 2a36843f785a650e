/** The tables of workspaces, and of the keys and connections that they own. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const workspaceMigrations = {
  '001-workspaces': { up: createWorkspaces },
  '003-keys': { up: createOwned },
  '017-holders': { up: createHolders },
  '019-connection-identities': { up: addIdentities },
}

async function createWorkspaces(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('workspaces', (table) => {
    table.text('id').primary()
    table.text('name').notNullable().unique()
    // The id of the account that made the workspace; null for the command line. Accounts have no table yet.
    table.text('paid_by').index()
    table.bigInteger('created_at').notNullable()
    // The rule for the sign-in of members: any, second_step or passkey.
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
    // The maker of the key; null for the command line.
    table.text('created_by').references('users.id')
    table.bigInteger('last_used_at')
    table.bigInteger('expires_at')
    // Networks in CIDR notation, as JSON; empty for any.
    table.text('networks').notNullable()
    // Agents as JSON; null for every agent that is not bound.
    table.text('agent_ids')
    table.text('last_address')
    // The id of the key that a rotation made in place of this one.
    table.text('replaced_by')
  })

  await db.schema.createTable('bound_agents', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('agent_id').notNullable()
    table.bigInteger('bound_at').notNullable()
    table.primary(['workspace_id', 'agent_id'])
  })

  // The looks of bound agents, so that no other agent is taken for one.
  await db.schema.createTable('bound_looks', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('look').notNullable()
    table.text('agent_id').notNullable()
    // The version of the table of characters that look alike.
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
    // The name that the owners of the workspace gave the connection, if they did.
    table.text('name')
    table.text('provider').notNullable()
    table.text('options').notNullable()
    table.text('sealed_secrets').notNullable()
    // Tokens from refresh tokens, by their options, each sealed.
    table.text('sealed_tokens').notNullable()
    // The sealed key that names the withheld address in receipts; null if it follows from SECRET_KEY.
    table.text('source_key')
    table.text('scopes').notNullable()
    // Receipts name the address if this is published, and not if it is withheld.
    table.text('address').notNullable()
    table.bigInteger('connected_at').notNullable()
    // The person who connected it; null for the command line.
    table.text('connected_by').references('users.id')
    table.bigInteger('disconnected_at')
    // Notes of the probe, for the owner, as JSON.
    table.text('notes').notNullable()
    table.bigInteger('last_read_at')
    table.bigInteger('last_failure_at')
    table.text('last_failure')
    // The state that a trial proved, with its time, the target that it tried, and the end of the credentials; null where unknown.
    table.text('state')
    table.bigInteger('state_at')
    table.text('trial_target')
    table.bigInteger('expires_at')
  })
}

async function addIdentities(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('connections', (table) => {
    // The identity of the destination that a trial told, as JSON; null where none did.
    table.text('identity')
  })
}

async function createHolders(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('holders', (table) => {
    table.text('workspace_id').primary().references('workspaces.id')
    // The key of the agents' pseudonyms, sealed.
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
