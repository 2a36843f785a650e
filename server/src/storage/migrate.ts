/** Brings a database to this version's schema; refuses one that is ahead of it. */
import type { Knex } from 'knex'
import * as initial from './migrations/001-initial.ts'
import { StorageError } from './storage.ts'

const MIGRATIONS: Readonly<Record<string, Knex.Migration>> = {
  '001-initial': initial,
}

const SOURCE: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(MIGRATIONS),
  getMigrationName: (name) => name,
  getMigration: async (name) => MIGRATIONS[name]!,
}

const TABLE = 'migrations'

/** Returns the migrations that it ran. @throws StorageError `newer_schema` */
export async function migrate(db: Knex): Promise<string[]> {
  if (await db.schema.hasTable(TABLE)) {
    const applied: { name: string }[] = await db(TABLE).select('name')
    const unknown = applied.map((row) => row.name).filter((name) => !(name in MIGRATIONS))
    if (unknown.length > 0) {
      throw new StorageError(
        'newer_schema',
        `the database is from a newer version of Claimcheck (it has ${unknown.join(', ')}): run that version or a later one`,
      )
    }
  }
  const [, ran] = await db.migrate.latest({ migrationSource: SOURCE, tableName: TABLE })
  return ran
}
