/** Migration 4: people and what they may do, how they sign in, and what OAuth remembers of its grants. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('users', (table) => {
    table.text('id').primary()
    // In lower case.
    table.text('email').notNullable().unique()
    table.text('name').notNullable()
    // argon2id in its own text form; null for a user who signs in by other means only.
    table.text('password_hash')
    table.bigInteger('created_at').notNullable()
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
  })

  await db.schema.createTable('links', (table) => {
    table.text('id').primary()
    table.text('token_hash').notNullable().unique()
    // setup, invitation or reset.
    table.text('kind').notNullable()
    // With an invitation: the workspace and the role.
    table.text('workspace_id').references('workspaces.id').index()
    table.text('role')
    // With a reset: whose password.
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
    table.primary(['issuer', 'subject'])
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

  // Null: the command line. In plain SQL: to add a reference, knex would make a SQLite table anew.
  await db.raw('ALTER TABLE api_keys ADD COLUMN created_by text REFERENCES users (id)')
  await db.raw('ALTER TABLE api_keys ADD COLUMN last_used_at bigint')
  await db.raw('ALTER TABLE connections ADD COLUMN connected_by text REFERENCES users (id)')
  // What the probe reported, for the owner, as JSON.
  await db.raw(`ALTER TABLE connections ADD COLUMN notes text NOT NULL DEFAULT '[]'`)
  for (const column of ['last_read_at bigint', 'last_failure_at bigint', 'last_failure text']) {
    await db.raw(`ALTER TABLE connections ADD COLUMN ${column}`)
  }
}
