/** Opens the database that the configuration names. */
import type { HostConfig } from '../config/config.ts'
import { type DatabaseScheme, schemeOf } from '../config/database-url.ts'
import type { OpenedStorage, OpenStorageOptions } from './pools.ts'

type Open = (url: string, options: OpenStorageOptions) => Promise<OpenedStorage>

/** Databases by the scheme of the URL, loaded on use, because each driver takes a while to load. */
const DATABASES: Readonly<Record<DatabaseScheme, () => Promise<Open>>> = {
  sqlite: async () => (await import('./sqlite.ts')).openSqlite,
  postgres: async () => (await import('./postgres.ts')).openPostgres,
}

/**
 * Opens the database, migrates it unless the options say otherwise, and returns the storage with the migrations that ran.
 * @throws StorageError
 */
export async function openStorage(
  { databaseUrl, databaseReadUrl }: Pick<HostConfig, 'databaseUrl'> & Partial<Pick<HostConfig, 'databaseReadUrl'>>,
  options: OpenStorageOptions,
): Promise<OpenedStorage> {
  const open = await DATABASES[schemeOf(databaseUrl)]()
  return open(databaseUrl, { ...options, readUrl: databaseReadUrl })
}
