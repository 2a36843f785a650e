/** Opens the database that the configuration names. */
import type { HostConfig } from '../config/config.ts'
import { type DatabaseScheme, schemeOf } from '../config/database-url.ts'
import type { OpenedStorage, OpenStorageOptions } from './pools.ts'

type Open = (url: string, options: OpenStorageOptions) => Promise<OpenedStorage>

/** By the scheme of the URL. Loaded on use, because each driver takes a while to load. */
const DATABASES: Readonly<Record<DatabaseScheme, () => Promise<Open>>> = {
  sqlite: async () => (await import('./sqlite.ts')).openSqliteUrl,
  postgres: async () => (await import('./postgres.ts')).openPostgres,
}

/** Migrates it, unless the options say otherwise, and returns what that did. @throws StorageError */
export async function openStorage(
  { databaseUrl, databaseReadUrl }: Pick<HostConfig, 'databaseUrl'> & Partial<Pick<HostConfig, 'databaseReadUrl'>>,
  options: OpenStorageOptions,
): Promise<OpenedStorage> {
  const open = await DATABASES[schemeOf(databaseUrl)]()
  return open(databaseUrl, { ...options, readUrl: databaseReadUrl })
}
