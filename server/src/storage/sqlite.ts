/** SQLite: one writing connection, a few reading ones, write-ahead log, every commit on disk. */
import { closeSync, existsSync, mkdirSync, openSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
// @ts-expect-error knex has no types for its dialects
import Sqlite3Client from 'knex/lib/dialects/sqlite3/index.js'
import { sqliteFile } from '../config/database-url.ts'
import { changeParts, PARAMETERS } from './changes.ts'
import { keepChecks } from './claim-row.ts'
import type { Binding, Row } from './db.ts'
import type { Dialect } from './dialect.ts'
import { migrate, requireThisSchema } from './migrate.ts'
import type { Connection, Done } from './node-sqlite.ts'
import { createStorage, type OpenedStorage, type OpenStorageOptions } from './pools.ts'
import { loadSqliteDriver, type SqliteDriver, type SqliteDriverName } from './sqlite-drivers.ts'
import { StorageError } from './storage.ts'

const READERS = 4
/** The page size of new files. */
const PAGE_BYTES = 8192
const ACQUIRE_TIMEOUT_MS = 10_000
/**
 * Readers map the file, up to SQLite's own limit of 2 GiB, so that pages are not copied into a cache of each connection. A disk that cannot
 * read a mapped page, or a program that cuts the file off, ends the process (SIGBUS) where a copy would be an error: nothing is lost by that,
 * because the writer maps nothing, and what it has committed is on disk.
 */
const MAPPED = `PRAGMA mmap_size = ${2 ** 31};`

/** The size of the shared-memory file of a database in use. */
const SHARED_MEMORY_BYTES = 32_768

const BEGIN = 'BEGIN IMMEDIATE'
const BUSY_PAUSE_MS = 10
/**
 * Codes of faults that the service may have caused: values, constraints, statements, and errors that triggers raise. All others are the database's.
 */
const OWN_FAULT = /^SQLITE_(CONSTRAINT|ERROR|MISMATCH|MISUSE|RANGE|TOOBIG)/

/** The white space before the bodies of triggers. Stored digests of migrations depend on it. */
const NEW_LINE = `\n${' '.repeat(10)}`

/** Makes the trigger that refuses a change of a table. @param when the condition, if any, between white space */
function refusal(table: string, change: 'UPDATE' | 'DELETE', when: string): string {
  const name = `${table}_no_${change.toLowerCase()}`
  return `CREATE TRIGGER ${name} BEFORE ${change} ON ${table}${when}BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code)
}

/** The dialect of SQLite. One host has the file, and one transaction writes at a time, from its first statement on: no other locks are needed. */
export const sqlite: Dialect = {
  bytes: (hex) => `unhex(${hex})`,
  // The type jsonb finds each member at once: json would read the row's text again for each column.
  unfold: (binding) => `jsonb_each(CAST(${binding} AS text))`,
  cell: (index, type) => (type === 'bytes' ? `unhex(value->>${index})` : `value->>${index}`),
  slice: (bytes, index, type) => {
    const value = `substr(${bytes}, value->>'$[${index}][0]', value->>'$[${index}][1]')`
    return type === 'bytes' ? value : `CAST(${value} AS text)`
  },
  texts: '(SELECT value FROM json_each(CAST(? AS text)))',
  includes: (column, text) => `EXISTS (SELECT 1 FROM json_each(${column}) AS item WHERE item.value = ${text})`,
  // A long pattern is bound as bytes, so it is cast.
  matches: (column) => `${column} LIKE CAST(? AS text) ESCAPE '\\'`,
  jsonArray: 'json_array',
  jsonGroup: 'json_group_array',
  clock: `unixepoch('subsec') * 1000`,
  answersAs: undefined,
  begin: BEGIN,
  beginSnapshot: 'BEGIN',
  forUpdate: '',
  forChange: '',
  forUpdateSkipLocked: '',
  lockTables: () => [],
  allowIdle: [],
  analyze: () => [],
  changesStatement: `INSERT INTO changes (${PARAMETERS.join(', ')}) VALUES (${PARAMETERS.map(() => '?').join(', ')})`,
  // During its wait for readers, no transaction writes.
  forgetDeleted: ['PRAGMA busy_timeout = 1000', 'PRAGMA wal_checkpoint(TRUNCATE)', 'PRAGMA busy_timeout = 10000'],
  // A full VACUUM is needed, because secure_delete overwrites only the row as it is: where a full page was divided, each part keeps what went into
  // the other.
  rewrite: () => ['VACUUM'],
  tableNames: (table) =>
    table('sqlite_master').where({ type: 'table' }).whereNot('name', 'like', 'sqlite_%').pluck('name'),
  indexAndTriggerNames: (table) => table('sqlite_master').whereIn('type', ['index', 'trigger']).pluck('name'),
  isUnavailable: (error) => {
    const code = codeOf(error)
    // knex throws this error when no connection was free in time.
    return (error as Error).name === 'KnexTimeoutError' || (code.startsWith('SQLITE_') && !OWN_FAULT.test(code))
  },
  mayReturn: (error) => codeOf(error) === 'SQLITE_FULL',
  reasons: {
    SQLITE_FULL: 'its disk is full',
    SQLITE_READONLY: 'it is read-only',
    SQLITE_BUSY: 'another program holds it',
    SQLITE_CORRUPT: 'its file is damaged',
    SQLITE_NOTADB: 'its file is damaged',
    SQLITE_IOERR: 'its disk fails',
  },
  refusesRows: (error) => codeOf(error).startsWith('SQLITE_CONSTRAINT'),
  migrations: {
    // Every transaction of SQLite begins with the lock, so migrations need no other.
    lock: [],
    takeTables: () => [],
    appendOnly: (table) => [refusal(table, 'UPDATE', NEW_LINE), refusal(table, 'DELETE', NEW_LINE)],
    keepFrom: (table, number, head, first) => [
      refusal(table, 'UPDATE', ' '),
      refusal(table, 'DELETE', ` WHEN OLD.${number} >= (SELECT ${first} FROM ${head}) `),
    ],
    allowErasure: (table, change, condition) => [
      `DROP TRIGGER ${table}_no_${change.toLowerCase()}`,
      refusal(table, change, ` WHEN (${condition}) IS NOT TRUE${NEW_LINE}`),
    ],
    compareBytes: () => [],
  },
  shared: undefined,
}

/**
 * Makes the trigger that makes the changes. A statement of SQLite changes one table; only a trigger changes more. So `applyChanges` inserts into a
 * view, and its trigger makes the changes. Each writing connection defines both.
 */
function changesTrigger(): string {
  const { held, grown, moved, added, heads, inserted, rows } = changeParts(sqlite, (name) => `NEW.${name}`)
  return `CREATE TEMP VIEW changes AS SELECT ${PARAMETERS.map((name) => `NULL AS ${name}`).join(', ')};
    CREATE TEMP TRIGGER apply_changes INSTEAD OF INSERT ON changes BEGIN
      SELECT RAISE(ABORT, 'the log has ended') WHERE NOT EXISTS (${held});
      ${grown};
      SELECT RAISE(ABORT, 'the log has moved on') WHERE NEW.head_count > 0 AND changes() <> NEW.head_count;
      ${moved};
      SELECT RAISE(ABORT, 'a claim has moved on') WHERE changes() <> NEW.progress_count;
      ${added};
      SELECT RAISE(ABORT, 'a new claim may not be stored') WHERE changes() <> NEW.new_count;
      ${keepChecks(rows.moved)};
      ${keepChecks(rows.added)};
      ${heads};
      ${inserted.join(';\n')};
    END`
}

const SqliteClient: new () => {
  transaction(...args: unknown[]): { begin: unknown; query(connection: unknown, sql: string): Promise<unknown> }
  destroyRawConnection(connection: Connection): Promise<void>
  _driver(): unknown
} = Sqlite3Client

/** Makes knex's client with this driver. */
export function clientOf({ module }: SqliteDriver): typeof Knex.Client {
  class PreparingSqliteClient extends SqliteClient {
    override _driver() {
      return module
    }

    // Transactions that knex begins are deferred: one that reads first and writes then would fail when another process wrote in between.
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
  return PreparingSqliteClient as unknown as typeof Knex.Client
}

type Statement = ReturnType<Connection['prepare']>

/** The prepared statements of each connection by their text. */
const prepared = new WeakMap<Connection, Map<string, Statement>>()

/**
 * Opens the database file of a URL, creating it where that is allowed, and migrates it.
 * @throws StorageError
 */
export async function openSqlite(url: string, options: OpenStorageOptions): Promise<OpenedStorage> {
  const file = sqliteFile(url)!
  const driver = await loadSqliteDriver(options.drivers as readonly SqliteDriverName[] | undefined)
  if (options.asIs && !existsSync(file)) throw new StorageError('unavailable', `there is no database ${file}`)
  makeFile(file)
  const before = idleState(file)
  try {
    return await openWith(driver, file, options)
  } catch (error) {
    // A disk without room for SQLite's other files also has none for a server, which could change the file meanwhile.
    const isUnavailable = error instanceof StorageError && error.code === 'unavailable'
    if (!options.asIs || before === undefined || !isUnavailable) throw error
    const storage = await openWith(driver, `${pathToFileURL(file).href}?immutable=1`, options)
    const requireUnchanged = () => {
      if (idleState(file) === before) return
      const problem = `${file} changed while it was read: stop the program that uses it, and try again`
      throw new StorageError('unavailable', problem)
    }
    return { ...storage, requireUnchanged }
  }
}

/**
 * Opens the database file with a driver.
 * @param name the name of the file, or a URI of it
 */
async function openWith(
  driver: SqliteDriver,
  name: string,
  { schema, beforeStatement, asIs = false, prepareSchema = asIs ? requireThisSchema : migrate }: OpenStorageOptions,
): Promise<OpenedStorage> {
  const writer = connect(driver, name, 1, changesTrigger())
  const reader = connect(driver, name, READERS, MAPPED)
  const storage = createStorage<Connection>({
    dialect: sqlite,
    schema,
    driver: driver.name,
    label: `the database ${name}`,
    file: name,
    writer,
    reader,
    run,
    discard() {},
    beforeStatement,
  })
  try {
    return { ...storage, ...(await prepareSchema(writer, sqlite, schema)) }
  } catch (error) {
    await storage.close()
    if (error instanceof StorageError) throw error
    throw openingError(name, !asIs && lacksRoom(name, error) ? FULL : error)
  }
}

const FULL = Object.assign(new Error(sqlite.reasons.SQLITE_FULL), { code: 'SQLITE_FULL' })

/**
 * Tells whether an error is one of a full disk. SQLite calls it so where it writes pages, but an error of the disk or of the file where it cannot
 * make its other files, as after a stop in order, which removes them.
 */
function lacksRoom(file: string, error: unknown): boolean {
  if (!['SQLITE_IOERR', 'SQLITE_CANTOPEN'].includes(codeOf(error))) return false
  const probe = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(probe, Buffer.alloc(SHARED_MEMORY_BYTES))
    return false
  } catch (problem) {
    return ['ENOSPC', 'EDQUOT'].includes(codeOf(problem))
  } finally {
    rmSync(probe, { force: true })
  }
}

/** Describes when the file changed last, if no other program has it open, and nothing of it is in the write-ahead log. */
function idleState(file: string): string | undefined {
  // SQLite's other files are in the folder of the file that a link leads to.
  const path = realpathSync(file)
  const sizeOf = (ending: string) => statSync(path + ending, { throwIfNoEntry: false })?.size ?? 0
  if (sizeOf('-wal') > 0 || sizeOf('-shm') >= SHARED_MEMORY_BYTES) return undefined
  const { ino, size, mtimeNs } = statSync(path, { bigint: true })
  return `${ino} ${size} ${mtimeNs}`
}

function run(connection: Connection, sql: string, bindings: readonly Binding[]): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    statement(connection, sql).all(bindings.map(toBytes), (error, rows) => (error ? reject(error) : resolve(rows)))
  })
}

// The driver takes several times as long to copy text as to copy bytes. Only JSON is that long, and its readers cast it to text.
const LONG_TEXT = 1024

function toBytes(binding: Binding): Binding {
  return typeof binding === 'string' && binding.length > LONG_TEXT ? Buffer.from(binding) : binding
}

function statement(connection: Connection, sql: string): Statement {
  const statements = prepared.get(connection)!
  const known = statements.get(sql)
  if (known) return known
  const made = connection.prepare(sql)
  statements.set(sql, made)
  return made
}

/** Creates the file for its owner alone, if it is missing: workspaces' claims are confidential. SQLite gives its other files the same mode. */
function makeFile(file: string): void {
  // Opening and closing a file that this process has open would drop the locks that SQLite holds on it.
  if (existsSync(file)) return
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
  } catch (cause) {
    throw openingError(file, cause)
  }
}

/**
 * Makes a pool of connections.
 * @param definitions statements that each connection runs first
 */
function connect(driver: SqliteDriver, file: string, connections: number, definitions: string): Knex {
  return knex({
    client: clientOf(driver),
    connection: { filename: file, flags: ['OPEN_URI'] },
    // Errors are logged, and a bound value may be the hash of a password, so they must not hold the compiled statement.
    compileSqlOnError: false,
    useNullAsDefault: true,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    // Messages of knex would go to the console; errors that matter are thrown.
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    pool: {
      min: 0,
      max: connections,
      afterCreate: (connection: Connection, done: Done) => {
        // The file keeps the journal mode, and its page size for ever: a group of claims writes fewer of the larger pages. Without recursive triggers
        // REPLACE would delete append-only rows. Without secure_delete erased content would stay in free pages of the file.
        const pragmas = `PRAGMA busy_timeout = 10000; PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
          PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA secure_delete = ON; PRAGMA cache_size = -32000;`
        // A connection that cannot be prepared is forgotten by knex, so it is closed here.
        const opened: Done = (error) => (error ? connection.close(() => done(error)) : done(null))
        prepared.set(connection, new Map())
        executePatiently(connection, `${pragmas} ${definitions}`, opened)
      },
    },
  })
}

/**
 * Executes statements again when SQLite refuses them at once, as it does to one of two connections that create a new file's journal, so that they do
 * not wait for each other.
 */
function executePatiently(
  connection: Connection,
  sql: string,
  done: Done,
  until = Date.now() + ACQUIRE_TIMEOUT_MS,
): void {
  connection.exec(sql, (error) => {
    if (codeOf(error) !== 'SQLITE_BUSY' || Date.now() > until) done(error)
    else setTimeout(() => executePatiently(connection, sql, done, until), BUSY_PAUSE_MS)
  })
}

function openingError(file: string, error: unknown): StorageError {
  if (['SQLITE_CORRUPT', 'SQLITE_NOTADB'].includes(codeOf(error)))
    return new StorageError('corrupt', `${file} is not a SQLite database, or it is damaged`, { cause: error })
  const message = `cannot open or write the database ${file}: ${(error as Error).message}`
  return new StorageError('unavailable', message, { cause: error, mayReturn: sqlite.mayReturn(error) })
}
