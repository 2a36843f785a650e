/** Brings a database to this version's schema; refuses one that is ahead of it. */
import type { Knex } from 'knex'
import * as initial from './migrations/001-initial.ts'
import * as manyHosts from './migrations/002-many-hosts.ts'
import * as anchors from './migrations/003-anchors.ts'
import * as consoleTables from './migrations/004-console.ts'
import * as plainOrder from './migrations/005-plain-order.ts'
import { isPostgres } from './migrations/dialect.ts'
import { StorageError } from './storage.ts'

const MIGRATIONS: Readonly<Record<string, Knex.Migration>> = {
  '001-initial': initial,
  '002-many-hosts': manyHosts,
  '003-anchors': anchors,
  '004-console': consoleTables,
  '005-plain-order': plainOrder,
}

const SOURCE: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(MIGRATIONS),
  getMigrationName: (name) => name,
  getMigration: async (name) => MIGRATIONS[name]!,
}

const TABLE = 'migrations'
/** Any number that nobody else locks in our database. */
const MIGRATION_LOCK = 0x636c6d

/** In one transaction: of processes that start together one migrates, and none finds half of it. Returns what it ran. @throws StorageError `newer_schema` */
export function migrate(db: Knex): Promise<string[]> {
  return db.transaction(async (tx) => {
    // SQLite's transactions begin with the lock.
    if (isPostgres(tx)) {
      // Whoever waits here waits for a migration, however long that takes.
      await tx.raw('SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
      await tx.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK])
    }
    await refuseNewer(tx)
    const [, ran] = await tx.migrate.latest({ migrationSource: SOURCE, tableName: TABLE })
    return ran
  })
}

/** For who reads a database without changing it. @throws StorageError `newer_schema`, `older_schema` */
export async function requireThisSchema(db: Knex): Promise<string[]> {
  await refuseNewer(db)
  const applied = await appliedTo(db)
  const missing = Object.keys(MIGRATIONS).filter((name) => !applied.includes(name))
  if (missing.length === 0) return []
  const message = `the database has not the schema of this version (it lacks ${missing.join(', ')}): claimcheck migrate brings it there`
  throw new StorageError('older_schema', message)
}

async function refuseNewer(db: Knex): Promise<void> {
  const unknown = (await appliedTo(db)).filter((name) => !Object.hasOwn(MIGRATIONS, name))
  if (unknown.length === 0) return
  throw new StorageError(
    'newer_schema',
    `the database is from a newer version of Claimcheck (it has ${unknown.join(', ')}): run that version or a later one`,
  )
}

async function appliedTo(db: Knex): Promise<string[]> {
  return (await db.schema.hasTable(TABLE)) ? db(TABLE).pluck('name') : []
}
