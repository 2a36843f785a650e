/** Opens the database that the configuration names, in its dialect. */
import type { Config } from '../config.ts'
import { openSqlite } from './sqlite.ts'
import type { Storage } from './storage.ts'

/** Migrates it too, and tells what that did. @throws StorageError */
export function openStorage({
  databaseUrl,
}: Pick<Config, 'databaseUrl'>): Promise<Storage & { readonly migrated: readonly string[] }> {
  return openSqlite(databaseUrl.slice('sqlite:'.length))
}
