/** Pools of connections to Postgres. */
import knex, { type Knex } from 'knex'
// @ts-expect-error knex has no types for its dialects
import KnexPgClient from 'knex/lib/dialects/postgres/index.js'
import pg, { type Client, type ClientConfig, DatabaseError, type QueryConfig, types } from 'pg'
import { postgresServers, type Servers, type ServersOptions } from './postgres-servers.ts'

/** The most connections of one host. Postgres takes 100 in all unless it is configured otherwise. */
const MOST_CONNECTIONS = 8
const CONNECT_TIMEOUT_MS = 5_000
// Lock waits are limited: a host that stops while it holds the log must not hold up all others for long.
export const LOCK_TIMEOUT_MS = 10_000
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 5_000

export const LIMITS = [
  `lock_timeout = ${LOCK_TIMEOUT_MS}`,
  `idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}`,
]

// Rows are looked up by their keys. Index plans stay right however much the tables have grown since their statistics were made, while
// a plan that was kept from when they were empty would read all rows, or once for all that are looked up the whole of an index, and keep
// what it finds (`enable_material`). (Without scans allowed, a statement that needs one looks so expensive that Postgres would compile it
// first: so that is off, too.)
export const BY_KEYS = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_material', 'jit'].map(
  (setting) => `${setting} = off`,
)

export interface PoolOptions extends Pick<ServersOptions, 'isReplica'> {
  /** The set in which the pool keeps its open connections. */
  readonly open: Set<Client>
  /** The first statements that each connection runs. */
  readonly settings: string
  /** The time limit for connecting. A statement waits twice as long for a connection: a busy server may need a second try. */
  readonly timeoutMs?: number | undefined
}

export function openPool(
  url: string,
  { open, settings, timeoutMs = CONNECT_TIMEOUT_MS, isReplica }: PoolOptions,
): Knex {
  const common: ClientConfig = {
    application_name: 'claimcheck',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser },
  }
  return knex({
    client: clientOf(postgresServers(url, { settings: common, timeoutMs, isReplica }), open),
    connection: {},
    // Errors are logged, and a bound value may be the hash of a password, so they must not hold the compiled statement.
    compileSqlOnError: false,
    acquireConnectionTimeout: 2 * timeoutMs,
    log: { warn() {}, error() {}, deprecate() {}, debug() {} },
    pool: {
      min: 0,
      max: MOST_CONNECTIONS,
      afterCreate: (connection: Client, done: (error: Error | null) => void) => {
        open.add(connection)
        connection.once('end', () => open.delete(connection))
        if (!settings) return done(null)
        const setting = { text: settings, query_timeout: CONNECT_TIMEOUT_MS } as QueryConfig
        connection.query(setting, (error) => {
          // A connection that fails here is forgotten by knex, which leaves it open.
          if (error) connection.end().catch(() => {})
          done(error ?? null)
        })
      },
    },
  })
}

type KnexClient = new (
  config: Knex.Config,
) => {
  _acquireOnlyConnection(): Promise<Client>
  _query(connection: Client, statement: unknown): Promise<unknown>
}

const PgClient: KnexClient = KnexPgClient

/**
 * Makes knex's client, which connects to one of these servers.
 * @param open the open connections
 */
function clientOf(servers: Servers, open: ReadonlySet<Client>): typeof Knex.Client {
  class ServersClient extends PgClient {
    override _acquireOnlyConnection(): Promise<Client> {
      return servers.connect(connect)
    }

    override _query(connection: Client, statement: unknown): Promise<unknown> {
      return keepUsable(connection, open, super._query(connection, statement))
    }
  }
  return ServersClient as unknown as typeof Knex.Client
}

async function connect(settings: ClientConfig): Promise<Client> {
  const connection = new pg.Client(settings)
  connection.on('error', (error) => discard(connection, error))
  connection.on('end', () => discard(connection, 'the connection ended'))
  try {
    await connection.connect()
    return connection
  } catch (error) {
    // A connection that this end gives up stays open at the server until that does so, too.
    connection.end().catch(() => {})
    throw error
  }
}

const INT8 = 20

// All stored counts and times are safe integers.
function getTypeParser(type: number, format?: 'text' | 'binary') {
  return type === INT8 ? Number : types.getTypeParser(type, format as 'text')
}

/** SQLSTATEs after which a connection is of no use: it leads to a standby, to a server that ends, or to a pooler that lost track. */
const SPENT = /^(25006|57P0|08P01)/
// Matches the driver's message for a statement that got no answer in time: this error has no code.
const SILENT = /^Query read timeout/

/**
 * Waits for an answer, and discards the connections that are of no use after it.
 * @param open connections of the pool, which lead to the same server
 */
export async function keepUsable<T>(connection: Client, open: ReadonlySet<Client>, answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    // The driver gives up waiting and leaves the connection open: a late answer would be taken for the answer to the next statement.
    if (SILENT.test((error as Error).message)) discard(connection, error)
    if (error instanceof DatabaseError && SPENT.test(String(error.code))) for (const each of open) discard(each, error)
    throw error
  }
}

export function discard(connection: Client, error: unknown): void {
  // Before it hands a connection out again, knex looks at this member.
  Object.assign(connection, { __knex__disposed: error })
}
