/** Opens databases with the tables that the service stores, as a host does. */
import { fileUrl } from '@claimcheck/server/config/database-url'
import { SCHEMA } from '@claimcheck/server/features'
import { openStorage as open } from '@claimcheck/server/storage/open'
import type { OpenedStorage, OpenStorageOptions } from '@claimcheck/server/storage/pools'
import { openPostgres as openPostgresUrl } from '@claimcheck/server/storage/postgres'
import { openSqlite as openSqliteUrl } from '@claimcheck/server/storage/sqlite'

export { SCHEMA }

export type TestStorageOptions = Partial<OpenStorageOptions>

export function openStorage(
  config: { readonly databaseUrl: string },
  options: TestStorageOptions = {},
): Promise<OpenedStorage> {
  return open(config, { schema: SCHEMA, ...options })
}

export function openSqlite(file: string, options: TestStorageOptions = {}): Promise<OpenedStorage> {
  return openSqliteUrl(fileUrl(file), { schema: SCHEMA, ...options })
}

export function openPostgres(url: string, options: TestStorageOptions = {}): Promise<OpenedStorage> {
  return openPostgresUrl(url, { schema: SCHEMA, ...options })
}
