/** Opens the database that the configuration names, in its dialect. */
import type { Config } from '../config/config.ts'
import { sqliteFile } from '../config/database-url.ts'
import type { OpenedStorage, OpenStorageOptions } from './pools.ts'

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
