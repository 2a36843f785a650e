/** Opens the database that the configuration names, in its dialect. */
import type { Config } from '../config.ts'
import type { BeforeStatement } from './pools.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import type { Storage } from './storage.ts'

export interface OpenStorageOptions {
  readonly beforeStatement?: BeforeStatement | undefined
}

export type OpenedStorage = Storage & { readonly migrated: readonly string[] }

const SQLITE = 'sqlite:'

/** Migrates it too, and tells what that did. @throws StorageError */
export function openStorage(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  options: OpenStorageOptions = {},
): Promise<OpenedStorage> {
  return databaseUrl.startsWith(SQLITE)
    ? openSqlite(databaseUrl.slice(SQLITE.length), options)
    : openPostgres(databaseUrl, options)
}
