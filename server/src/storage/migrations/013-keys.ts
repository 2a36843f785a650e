/** Migration 13: what API keys may be held to, agents that belong to keys, and OAuth clients of machines. */
import type { Knex } from 'knex'
import type { Dialect } from '../dialect.ts'

export async function up(db: Knex, dialect: Dialect): Promise<void> {
  await db.raw('ALTER TABLE api_keys ADD COLUMN expires_at bigint')
  // CIDR, as JSON; empty: from anywhere.
  await db.raw(`ALTER TABLE api_keys ADD COLUMN networks text NOT NULL DEFAULT '[]'`)
  // JSON; null: for every agent that is not bound.
  await db.raw('ALTER TABLE api_keys ADD COLUMN agent_ids text')
  await db.raw('ALTER TABLE api_keys ADD COLUMN last_address text')
  // The id of the key that a rotation made.
  await db.raw('ALTER TABLE api_keys ADD COLUMN replaced_by text')

  await db.schema.createTable('bound_agents', (table) => {
    table.text('workspace_id').notNullable().references('workspaces.id')
    table.text('agent_id').notNullable()
    table.bigInteger('bound_at').notNullable()
    table.primary(['workspace_id', 'agent_id'])
  })
  for (const sql of dialect.migrations.compareBytes('bound_agents', ['workspace_id', 'agent_id'])) await db.raw(sql)
  // 1: submitted through a key that is bound to the claim's agent.
  await db.raw('ALTER TABLE claims ADD COLUMN agent_bound integer NOT NULL DEFAULT 0')

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
  for (const sql of dialect.migrations.compareBytes('machines', ['id', 'workspace_id'])) await db.raw(sql)
}
