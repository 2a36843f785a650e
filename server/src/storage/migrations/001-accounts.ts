/** People and workspaces: how they sign in, and the keys, machines and connections that they own. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

/**
 * Identifiers of look-ups and orders are compared byte by byte: the order of a language takes longer and has no meaning for them. A
 * column and what refers to it agree.
 */
const IDENTIFIERS: Readonly<Record<string, readonly string[]>> = {
  workspaces: ['id'],
  members: ['workspace_id'],
  links: ['workspace_id'],
  api_keys: ['id', 'workspace_id', 'key_hash'],
  bound_agents: ['workspace_id', 'agent_id'],
  machines: ['id', 'workspace_id'],
  connections: ['id', 'workspace_id'],
  retentions: ['workspace_id'],
  allowed_origins: ['workspace_id', 'origin'],
}

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  await createPeople(db)
  await createSignIn(db)
  await createOwned(db)
  for (const [table, columns] of Object.entries(IDENTIFIERS)) {
    for (const sql of dialect.migrations.compareBytes(table, columns)) await db.raw(sql)
  }
}

async function createPeople(db: Knex): Promise<void> {
  await db.schema.createTable('users', (table) => {
    table.text('id').primary()
    // In lower case.
    table.text('email').notNullable().unique()
    table.text('name').notNullable()
    // argon2id in its own text form; null for a user who signs in by other means only.
    table.text('password_hash')
    table.bigInteger('created_at').notNullable()
    // Goes up with each new password: what began under an earlier one ends.
    table.integer('generation').notNullable()
    table.bigInteger('closed_at')
  })

  await db.schema.createTable('workspaces', (table) => {
    table.text('id').primary()
    table.text('name').notNullable().unique()
    table.bigInteger('created_at').notNullable()
    // any, second_step or passkey.
    table.text('sign_in_rule').notNullable().defaultTo('any')
    table.bigInteger('deleted_at')
  })

  await db.schema.createTable('members', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('user_id').notNullable().references('users.id').index()
    // owner or member.
    table.text('role').notNullable()
    table.bigInteger('created_at').notNullable()
    table.unique(['workspace_id', 'user_id'])
  })
}

async function createSignIn(db: Knex): Promise<void> {
  // Of cookies and links only the SHA-256 is stored.
  await db.schema.createTable('sessions', (table) => {
    table.text('id').primary()
    table.text('token_hash').notNullable().unique()
    table.text('user_id').notNullable().references('users.id').index()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_seen_at').notNullable()
    table.bigInteger('expires_at').notNullable()
    table.text('user_agent').notNullable()
    table.text('address').notNullable()
    // password, password_and_code, passkey or outside.
    table.text('method').notNullable()
  })

  await db.schema.createTable('links', (table) => {
    table.text('id').primary()
    table.text('token_hash').notNullable().unique()
    // setup, invitation or reset.
    table.text('kind').notNullable()
    // With an invitation: the workspace and the role.
    table.text('workspace_id').references('workspaces.id').index()
    table.text('role')
    // With a reset: the user with the new password.
    table.text('user_id').references('users.id')
    // Null: the command line.
    table.text('created_by').references('users.id')
    table.bigInteger('created_at').notNullable()
    table.bigInteger('expires_at').notNullable()
    table.bigInteger('used_at')
  })

  await db.schema.createTable('passkeys', (table) => {
    // The authenticator's own id of it, in base64url.
    table.text('id').primary()
    table.text('user_id').notNullable().references('users.id').index()
    table.text('public_key').notNullable()
    table.bigInteger('counter').notNullable()
    table.text('transports').notNullable()
    table.text('name').notNullable()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
  })

  // People's accounts at outside OpenID providers.
  await db.schema.createTable('identities', (table) => {
    table.text('issuer').notNullable()
    table.text('subject').notNullable()
    table.text('user_id').notNullable().references('users.id').index()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
    table.primary(['issuer', 'subject'])
  })

  await db.schema.createTable('second_steps', (table) => {
    table.text('user_id').primary().references('users.id')
    // Sealed, in base32.
    table.text('secret').notNullable()
    // The number of the last 30 seconds that a code was used for.
    table.bigInteger('last_counter').notNullable()
    // Wrong codes since the last right one.
    table.integer('failures').notNullable()
    table.bigInteger('failed_at')
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
  })

  // Each works once, and is deleted then. Only the hash is stored.
  await db.schema.createTable('recovery_codes', (table) => {
    table.text('user_id').notNullable().references('users.id')
    table.text('code_hash').notNullable()
    table.primary(['user_id', 'code_hash'])
  })

  // From where each person has signed in, so that a sign-in from elsewhere is noticed.
  await db.schema.createTable('seen_browsers', (table) => {
    table.text('user_id').notNullable().references('users.id')
    // A hash.
    table.text('browser').notNullable()
    table.bigInteger('seen_at').notNullable()
    table.primary(['user_id', 'browser'])
  })

  // Codes, tokens, grants and challenges: each is found by the hash of its secret, and its payload is sealed.
  await db.schema.createTable('records', (table) => {
    table.text('kind').notNullable()
    table.text('id_hash').notNullable()
    table.text('payload').notNullable()
    table.text('grant_id').index()
    table.text('uid').index()
    table.bigInteger('consumed_at')
    table.bigInteger('expires_at').index()
    table.primary(['kind', 'id_hash'])
  })
}

/** What belongs to workspaces. */
async function createOwned(db: Knex): Promise<void> {
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

  await db.schema.createTable('machines', (table) => {
    // The client id.
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id').index()
    table.text('name').notNullable()
    table.text('secret_hash').notNullable()
    table.text('last_four').notNullable()
    // JSON.
    table.text('scopes').notNullable()
    table.text('created_by').references('users.id')
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
    table.bigInteger('revoked_at')
  })

  await db.schema.createTable('connections', (table) => {
    table.text('id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id').index()
    // What the owners of the workspace call it, once they have named it.
    table.text('name')
    table.text('provider').notNullable()
    table.text('options').notNullable()
    table.text('sealed_secrets').notNullable()
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

  // How long workspaces keep the content of their receipts.
  await db.schema.createTable('retentions', (table) => {
    table.text('workspace_id').primary().references('workspaces.id')
    table.integer('days').notNullable()
    table.bigInteger('changed_at').notNullable()
    table.bigInteger('erased_before').notNullable()
  })

  // The sites from which scripts may submit claims with the keys of a workspace.
  await db.schema.createTable('allowed_origins', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('origin').notNullable()
    table.bigInteger('listed_at').notNullable()
    table.primary(['workspace_id', 'origin'])
    table.index(['origin'], 'workspace_sites_by_origin')
  })
}
