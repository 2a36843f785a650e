/** Databases of each dialect, whatever dialect the test run is about. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import type { Test } from 'tap'
import { copyTemplate, createDatabase, type Dialect } from '../../../test/support/database.ts'
import { openStorage, type TestStorageOptions } from '../../../test/support/storage.ts'

export { DIALECTS } from '../../../test/support/database.ts'

let databases = 0

interface NewDatabase {
  /** Without tables. */
  readonly isEmpty?: boolean
}

/** The URL of a database of the test's own. */
export async function newDatabase(t: Test, dialect: Dialect, options: NewDatabase = {}): Promise<string> {
  if (dialect === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'claimcheck-database-'))
    // SQLite may still remove its write-ahead log, in another thread.
    t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const url = `sqlite:${join(folder, `${++databases}.db`)}`
    if (!options.isEmpty) copyTemplate(url)
    return url
  }
  const database = await createDatabase(dialect, options)
  t.teardown(() => database.remove())
  return database.env.DATABASE_URL!
}

/** Closed with the test. */
export async function opened(t: Test, databaseUrl: string, options?: TestStorageOptions): Promise<OpenedStorage> {
  const storage = await openStorage({ databaseUrl }, options)
  t.teardown(() => storage.close())
  return storage
}
