/** The SQLite dialect: one writing connection, a few reading ones, write-ahead log, every commit on disk. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import knex, { type Knex } from 'knex'
import { SQLITE_TRIGGER } from './changes.ts'
import type { Binding, Row } from './db.ts'
import { migrate } from './migrate.ts'
import { createStorage, type OpenedStorage, type OpenStorageOptions } from './pools.ts'
import { StorageError } from './storage.ts'

const READERS = 4
const ACQUIRE_TIMEOUT_MS = 10_000

/** What is used of the driver's connection. */
interface Connection {
  prepare(sql: string): Statement
  exec(sql: string, done: (error: Error | null) => void): void
}

interface Statement {
  all(bindings: readonly (Binding | Buffer)[], done: (error: Error | null, rows: Row[]) => void): void
  finalize(): void
}

type Client = new (
  config: Knex.Config,
) => {
  transaction(...args: unknown[]): { begin: unknown; query(connection: unknown, sql: string): Promise<unknown> }
  destroyRawConnection(connection: Connection): Promise<void>
}

const SqliteClient: Client = createRequire(import.meta.url)('knex/lib/dialects/sqlite3/index.js')

class PreparingSqliteClient extends SqliteClient {
  // knex begins transactions deferred: one that reads first and writes then would fail when another process wrote in between.
  override transaction(...args: unknown[]) {
    const transaction = super.transaction(...args)
    transaction.begin = (connection: unknown) => transaction.query(connection, BEGIN)
    return transaction
  }

  override destroyRawConnection(connection: Connection): Promise<void> {
    for (const statement of prepared.get(connection)?.values() ?? []) statement.finalize()
    return super.destroyRawConnection(connection)
  }
}

const BEGIN = 'BEGIN IMMEDIATE'
const BUSY_PAUSE_MS = 10

const prepared = new WeakMap<Connection, Map<string, Statement>>()

/** Opens, and makes if need be, the database file, and migrates it. @throws StorageError */
export async function openSqlite(
  file: string,
  { beforeStatement, prepareSchema = migrate }: OpenStorageOptions = {},
): Promise<OpenedStorage> {
  makeFile(file)
  const writer = connect(file, 1, SQLITE_TRIGGER)
  const reader = connect(file, READERS)
  const begins = { begin: BEGIN, beginSnapshot: 'BEGIN' }
  const pools = { dialect: 'sqlite', writer, reader, ...begins, run, discard() {}, beforeStatement } as const
  const storage = createStorage<Connection>({ ...pools, trouble: (error) => trouble(file, error) })
  try {
    return { ...storage, migrated: await prepareSchema(writer) }
  } catch (error) {
    await storage.close()
    throw error instanceof StorageError ? error : openingError(file, error)
  }
}

function run(connection: Connection, sql: string, bindings: readonly Binding[]): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    statement(connection, sql).all(bindings.map(toBytes), (error, rows) => (error ? reject(error) : resolve(rows)))
  })
}

// The driver takes several times as long to copy text as to copy bytes. Only lists are that long, and what unfolds them takes either.
const LONG_TEXT = 1024

function toBytes(binding: Binding): Binding | Buffer {
  return typeof binding === 'string' && binding.length > LONG_TEXT ? Buffer.from(binding) : binding
}

function statement(connection: Connection, sql: string): Statement {
  const known = prepared.get(connection)
  const statements = known ?? new Map<string, Statement>()
  if (!known) prepared.set(connection, statements)
  const found = statements.get(sql) ?? connection.prepare(sql)
  statements.set(sql, found)
  return found
}

/** For its owner alone, if it is not there: what workspaces claim is nobody else's business. SQLite gives its other files the same mode. */
function makeFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
  } catch (cause) {
    throw openingError(file, cause)
  }
}

/** @param definitions what each connection has of its own */
function connect(file: string, connections: number, definitions = ''): Knex {
  return knex({
    client: PreparingSqliteClient as unknown as typeof Knex.Client,
    connection: { filename: file },
    // Errors are logged: what is bound may be the hash of a password.
    compileSqlOnError: false,
    useNullAsDefault: true,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    // Handed to the console by knex otherwise; what matters is thrown.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    pool: {
      min: 0,
      max: connections,
      afterCreate: (connection: Connection, done: (error: Error | null) => void) => {
        // SQLite keeps none of these in the file but the journal mode. Without recursive triggers REPLACE would delete unseen.
        const pragmas = `PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
          PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA cache_size = -32000;`
        executePatiently(connection, `${pragmas} ${definitions}`, done)
      },
    },
  })
}

/** Of two that make a new file's journal at once, SQLite refuses one without waiting: both would wait for each other. */
function executePatiently(
  connection: Connection,
  sql: string,
  done: (error: Error | null) => void,
  until = Date.now() + ACQUIRE_TIMEOUT_MS,
): void {
  connection.exec(sql, (error) => {
    const isBusy = (error as { code?: unknown } | null)?.code === 'SQLITE_BUSY'
    if (!isBusy || Date.now() > until) done(error)
    else setTimeout(() => executePatiently(connection, sql, done, until), BUSY_PAUSE_MS)
  })
}

const TROUBLE: ReadonlySet<unknown> = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_READONLY',
  'SQLITE_BUSY',
  'SQLITE_CANTOPEN',
])

function trouble(file: string, error: unknown): string | undefined {
  const { code, name } = error as { code?: unknown; name?: unknown }
  // knex's own, when no connection was free in time.
  if (!TROUBLE.has(code) && name !== 'KnexTimeoutError') return undefined
  return `cannot use the database ${file}: ${(error as Error).message}`
}

function openingError(file: string, error: unknown): StorageError {
  const code = (error as { code?: string }).code
  const corrupt = code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB'
  return corrupt
    ? new StorageError('corrupt', `${file} is not a SQLite database, or it is damaged`, { cause: error })
    : new StorageError('unavailable', `cannot open or write the database ${file}: ${(error as Error).message}`, {
        cause: error,
      })
}
