/** The Postgres dialect: many hosts may share one database, each with a few connections. */
import knex, { type Knex } from 'knex'
import { type Client, DatabaseError, type QueryConfig, types } from 'pg'
import type { Row } from './db.ts'
import { migrate } from './migrate.ts'
import { createStorage, type OpenedStorage, type OpenStorageOptions, type Pools } from './pools.ts'
import { StorageError } from './storage.ts'

/** Of one host. Postgres takes 100 in all as it comes. */
const MOST_CONNECTIONS = 8
const CONNECT_TIMEOUT_MS = 5_000
// Connecting, and what a connection begins with; a busy server may need a second try.
const ACQUIRE_TIMEOUT_MS = 10_000
// A host that stops while it holds the log must not hold up all others for long.
const LOCK_TIMEOUT_MS = 10_000
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000
// A machine that vanished says nothing, and TCP alone would wait for it for hours.
const SILENCE_MS = 15_000
const KEEP_ALIVE_MS = 5_000

/** @throws StorageError */
export async function openPostgres(
  url: string,
  { beforeStatement, prepareSchema = migrate, patient = false }: OpenStorageOptions = {},
): Promise<OpenedStorage> {
  const pool = connect(url, patient ? '' : BY_KEYS)
  const run: Pools<Client>['run'] = (connection, sql, bindings, { replanned } = {}) => {
    const query = replanned ? { text: numbered(sql) } : prepare(sql)
    return ask(connection, { ...query, values: [...bindings], query_timeout: patient ? 0 : SILENCE_MS })
  }
  const begins = { begin: 'BEGIN', beginSnapshot: 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY' }
  const pools = { dialect: 'postgres', reader: pool, writer: pool, ...begins, run, discard } as const
  const storage = createStorage<Client>({ ...pools, trouble, beforeStatement })
  try {
    return { ...storage, migrated: await prepareSchema(pool) }
  } catch (error) {
    await storage.close()
    if (error instanceof StorageError) throw error
    // Whatever the driver says, it says without the password.
    throw new StorageError('unavailable', `cannot open the database: ${(error as Error).message}`, { cause: error })
  }
}

/** @param query with `query_timeout` in milliseconds; 0: none */
async function ask(connection: Client, query: QueryConfig & { readonly query_timeout: number }): Promise<Row[]> {
  try {
    return (await connection.query(query)).rows
  } catch (error) {
    // The driver gives up waiting, and leaves the connection open: what it answers then would be taken for another's answer.
    if (SILENT.test((error as Error).message)) discard(connection, error)
    throw error
  }
}

interface Prepared {
  readonly name: string
  readonly text: string
}

const prepared = new Map<string, Prepared>()

/** Each text under a name of its own, by which a connection knows it again. */
function prepare(sql: string): Prepared {
  const known = prepared.get(sql)
  if (known) return known
  const statement = { name: `s${prepared.size}`, text: numbered(sql) }
  prepared.set(sql, statement)
  return statement
}

function numbered(sql: string): string {
  let marks = 0
  return sql.replaceAll('?', () => `$${++marks}`)
}

// What is looked up by its key is found by its index, however many rows have come to be since the tables' statistics were made. A plan
// that was kept from when they were empty would read all of them. (What cannot do without a scan is taken to be so dear then that it
// would be compiled first.)
const BY_KEYS = 'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off'

/** @param settings what each connection begins with */
function connect(url: string, settings: string): Knex {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: 'claimcheck',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
      types: { getTypeParser },
    } as Knex.PgConnectionConfig,
    // Errors are logged: what is bound may be the hash of a password.
    compileSqlOnError: false,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    pool: {
      min: 0,
      max: MOST_CONNECTIONS,
      afterCreate: (connection: Client, done: (error: Error | null) => void) => {
        if (!settings) return done(null)
        const setting = { text: settings, query_timeout: CONNECT_TIMEOUT_MS } as QueryConfig
        connection.query(setting, (error) => {
          // knex forgets a connection that fails here, and leaves it open.
          if (error) connection.end().catch(() => {})
          done(error ?? null)
        })
      },
    },
  })
}

const INT8 = 20

// Counts and times: all of ours are safe integers.
function getTypeParser(type: number, format?: 'text' | 'binary') {
  return type === INT8 ? Number : types.getTypeParser(type, format as 'text')
}

function discard(connection: Client, error: unknown): void {
  // knex asks for this before it hands a connection out again.
  Object.assign(connection, { __knex__disposed: error })
}

/** SQLSTATE classes: connection, resources, intervention, system; and single ones: read-only, serialization, deadlock, lock timeout. */
const TROUBLE = /^(08|53|57|58|25006|25P03|40001|40P01|55P03)/
// Whatever the network says, and TLS: only what the database itself answers tells what has happened.
const NETWORK_TROUBLE = /^(E[A-Z]{3,}$|EAI_|ERR_(SSL|TLS|STREAM|SOCKET)_)/
// The driver and knex give these no code.
const SILENT = /^Query read timeout/
const LOST =
  /^(Query read timeout|Connection terminated|Client has encountered|timeout e|Knex: Timeout acquiring|Connection ended)/

function trouble(error: unknown): string | undefined {
  const { code = '', message } = error as { code?: string; message: string }
  const pattern = error instanceof DatabaseError ? TROUBLE : NETWORK_TROUBLE
  return pattern.test(code) || LOST.test(message) ? `cannot use the database: ${message}` : undefined
}
