/** Migration 12: second steps at signing in, what a workspace asks of a sign-in, and accounts and workspaces that are closed. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  // Goes up with each new password: what began under an earlier one ends.
  await db.raw('ALTER TABLE users ADD COLUMN generation integer NOT NULL DEFAULT 0')
  await db.raw('ALTER TABLE users ADD COLUMN closed_at bigint')
  // password, password_and_code, passkey or outside. Of earlier sessions it is not known: the weakest.
  await db.raw(`ALTER TABLE sessions ADD COLUMN method text NOT NULL DEFAULT 'password'`)
  await db.raw('ALTER TABLE identities ADD COLUMN last_used_at bigint')
  // any, second_step or passkey.
  await db.raw(`ALTER TABLE workspaces ADD COLUMN sign_in_rule text NOT NULL DEFAULT 'any'`)
  await db.raw('ALTER TABLE workspaces ADD COLUMN deleted_at bigint')

  await db.schema.createTable('second_steps', (table) => {
    table.text('user_id').primary().references('users.id')
    // Sealed, in base32.
    table.text('secret').notNullable()
    // The number of the last 30 seconds whose code was used.
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
}
