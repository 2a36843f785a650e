/** Opens the database that the configuration names, in its dialect. */
import type { Knex } from 'knex'
import type { Config } from '../config.ts'
import { sqliteFile } from '../database-url.ts'
import type { BeforeStatement, WholeDatabase } from './pools.ts'
import type { Storage } from './storage.ts'

export interface OpenStorageOptions {
  readonly beforeStatement?: BeforeStatement | undefined
  /** What is done about the schema, when that is not to migrate it. Returns the migrations that it ran. */
  readonly prepareSchema?: (db: Knex) => Promise<string[]>
  /** Waits for answers however long they take: for what goes through everything, with nobody waiting for it. */
  readonly patient?: boolean
}

export type OpenedStorage = Storage & WholeDatabase & { readonly migrated: readonly string[] }

/** Migrates it too, if nothing else is said, and tells what that did. @throws StorageError */
export async function openStorage(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  options: OpenStorageOptions = {},
): Promise<OpenedStorage> {
  const file = sqliteFile(databaseUrl)
  // Each dialect's driver takes a while to load.
  if (file !== undefined) return (await import('./sqlite.ts')).openSqlite(file, options)
  return (await import('./postgres.ts')).openPostgres(databaseUrl, options)
}
