/** The SQLite dialect: one writing connection, a few reading ones, write-ahead log, every commit on disk. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import knex, { type Knex } from 'knex'
import { migrate } from './migrate.ts'
import { reads, type Storage, StorageError, writes } from './storage.ts'

const READERS = 4

// knex begins transactions deferred: one that reads first and writes then would fail when another process wrote in between.
interface Transaction {
  begin(connection: unknown): Promise<unknown>
  query(connection: unknown, sql: string): Promise<unknown>
}
const SqliteClient: new (config: Knex.Config) => { transaction(...args: unknown[]): Transaction } = createRequire(
  import.meta.url,
)('knex/lib/dialects/sqlite3/index.js')
class ImmediateSqliteClient extends SqliteClient {
  override transaction(...args: unknown[]): Transaction {
    const transaction = super.transaction(...args)
    transaction.begin = (connection) => transaction.query(connection, 'BEGIN IMMEDIATE;')
    return transaction
  }
}

/** Opens, and makes if need be, the database file, and migrates it. @throws StorageError */
export async function openSqlite(file: string): Promise<Storage & { readonly migrated: readonly string[] }> {
  makeFile(file)
  const writer = connect(file, 1)
  const reader = connect(file, READERS)
  const close = async () => {
    await reader.destroy()
    await writer.destroy()
  }
  try {
    const migrated = await migrate(writer)
    return {
      migrated,
      read: reads(reader),
      write: (work) => writer.transaction((tx) => work(writes(tx))),
      close,
    }
  } catch (error) {
    await close()
    throw error instanceof StorageError ? error : storageError(file, error)
  }
}

/** For its owner alone, if it is not there: what workspaces claim is nobody else's business. SQLite gives its other files the same mode. */
function makeFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
  } catch (cause) {
    throw storageError(file, cause)
  }
}

function connect(file: string, connections: number): Knex {
  return knex({
    client: ImmediateSqliteClient as unknown as typeof Knex.Client,
    connection: { filename: file },
    useNullAsDefault: true,
    // Handed to the console by knex otherwise; what matters is thrown.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    pool: {
      min: 0,
      max: connections,
      afterCreate: (connection: { exec(sql: string, done: (error: Error | null) => void): void }, done: never) => {
        // SQLite keeps none of these in the file but the journal mode. Without recursive triggers REPLACE would delete unseen.
        const pragmas = `PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
          PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA cache_size = -32000;`
        connection.exec(pragmas, done)
      },
    },
  })
}

function storageError(file: string, error: unknown): StorageError {
  const code = (error as { code?: string }).code
  const corrupt = code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB'
  return corrupt
    ? new StorageError('corrupt', `${file} is not a SQLite database, or it is damaged`, { cause: error })
    : new StorageError('unwritable', `cannot open or write the database ${file}: ${(error as Error).message}`, {
        cause: error,
      })
}
