/**
 * Brings a database to this version's schema; refuses one that is ahead of it. The digest of each migration is stored when it runs: one that
 * was edited later would hide unequal schemas behind equal names.
 */
import type { Knex } from 'knex'
import type { Dialect } from './dialect.ts'
import { logs } from './log-state.ts'
import { digestOf, lackingIn } from './migrated-schema.ts'
import type { PreparedSchema } from './pools.ts'
import type { Migrations, Schema, StoredTable } from './schema.ts'
import { StorageError } from './storage.ts'

const TABLE = 'migrations'

/** The tables of the migrations' own records. They have rows in a database that is otherwise empty. */
export const BOOKKEEPING: readonly string[] = [TABLE, `${TABLE}_lock`]

/**
 * Migrates in one transaction: of processes that start together one migrates, and no other sees a part of it.
 * @throws StorageError `newer_schema`, `older_schema`
 */
export function migrate(db: Knex, dialect: Dialect, schema: Schema): Promise<PreparedSchema> {
  const { migrations, tables } = schema
  return db.transaction(async (tx) => {
    for (const sql of dialect.migrations.lock) await tx.raw(sql)
    const applied = await knownMigrations(tx, migrations)
    if (applied.length > 0 && applied.length < Object.keys(migrations).length) await takeTables(tx, dialect, tables)
    const [, ran] = await tx.migrate.latest({ migrationSource: sourceFor(dialect, migrations), tableName: TABLE })
    return { migrated: ran, lacking: await compareDigests(tx, dialect, schema, ran) }
  })
}

/**
 * Stores the digests of migrations that ran now. Migrations that ran with another text, or before digests were stored, count as today's where the
 * schema lacks nothing that they make.
 */
async function compareDigests(
  tx: Knex.Transaction,
  dialect: Dialect,
  schema: Schema,
  ran: readonly string[],
): Promise<string[]> {
  const digests = new Map<string, string>()
  for (const { name, digest } of await tx(TABLE).select('name', 'digest')) {
    const today = await digestOf(tx, dialect, schema.migrations[name]!)
    if (digest !== today) digests.set(name, today)
  }
  const lacking = [...digests.keys()].every((name) => ran.includes(name)) ? [] : await lackingIn(tx, dialect, schema)
  for (const [name, digest] of digests)
    if (lacking.length === 0 || ran.includes(name)) await tx(TABLE).where({ name }).update({ digest })
  return lacking
}

/**
 * Locks the tables as running hosts do: the log first, and rows before the owners that they refer to. Hosts of the previous version go on meanwhile.
 * A migration that took one table after the other, as it changes them, and such a host would wait for each other.
 */
async function takeTables(tx: Knex.Transaction, dialect: Dialect, tables: readonly StoredTable[]): Promise<void> {
  const taken = new Set([logs.name, ...tables.toReversed().map(({ table }) => table.name)])
  const there = await dialect.tableNames((name) => tx(name))
  for (const sql of dialect.migrations.takeTables([...taken].filter((name) => there.includes(name)))) await tx.raw(sql)
}

/**
 * Requires this version's schema, and changes nothing.
 * @throws StorageError `newer_schema`, `older_schema`
 */
export async function requireThisSchema(db: Knex, _dialect: Dialect, { migrations }: Schema): Promise<PreparedSchema> {
  const applied = await knownMigrations(db, migrations)
  const missing = Object.keys(migrations).filter((name) => !applied.includes(name))
  if (missing.length === 0) return { migrated: [], lacking: [] }
  const message = `the database has an older schema (it lacks ${missing.join(', ')}): bring it to this version with claimcheck migrate`
  throw new StorageError('older_schema', message)
}

function sourceFor(dialect: Dialect, migrations: Migrations): Knex.MigrationSource<string> {
  return {
    getMigrations: async () => Object.keys(migrations),
    getMigrationName: (name) => name,
    getMigration: async (name) => ({
      up: (db) => migrations[name]!.up(db, dialect),
      down: async () => {
        throw new Error('migrations only go forward')
      },
    }),
  }
}

/**
 * Lists those of these migrations that the database has.
 * @throws StorageError `newer_schema`, `older_schema` for a database that has others
 */
async function knownMigrations(db: Knex, migrations: Migrations): Promise<string[]> {
  const applied: string[] = (await db.schema.hasTable(TABLE)) ? await db(TABLE).pluck('name') : []
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return applied
  const names = unknown.join(', ')
  if (unknown.length === applied.length)
    throw new StorageError(
      'older_schema',
      `the database is from before the first release of Claimcheck (it has ${names}), and was left as it is: name another database in DATABASE_URL, which may be new`,
    )
  throw new StorageError(
    'newer_schema',
    `the database is from a newer version of Claimcheck (it has ${names}): run that version or a later one`,
  )
}
