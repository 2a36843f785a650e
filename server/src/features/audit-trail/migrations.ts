/** The tables of the audit trail. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

export const auditTrailMigrations = { '009-audit-trail': { up } }

async function up(db: MigrationDb, { migrations }: Dialect): Promise<void> {
  // No column is a reference, because an entry outlives its subject.
  await db.schema.createTable('audit_trail', (table) => {
    table.bigInteger('position').primary()
    table.bigInteger('at').notNullable()
    table.text('event').notNullable()
    table.text('actor_kind').notNullable()
    table.text('actor_id')
    table.text('address')
    table.text('workspace_id')
    table.text('user_id')
    table.text('subject')
    // Details are JSON.
    table.text('details').notNullable()
    table.binary('hash').notNullable()
    table.index(['workspace_id', 'position'], 'audit_trail_workspace')
    table.index(['user_id', 'position'], 'audit_trail_user')
  })

  await db.schema.createTable('audit_trail_head', (table) => {
    table.integer('id').primary()
    table.bigInteger('last_position').notNullable()
    table.binary('last_hash').notNullable()
    table.bigInteger('first_position').notNullable()
    table.binary('before_hash').notNullable()
  })
  for (const sql of migrations.keepFrom('audit_trail', 'position', 'audit_trail_head', 'first_position'))
    await db.raw(sql)
}
