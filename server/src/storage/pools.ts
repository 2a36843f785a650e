/** Storage over pools of connections: it chooses the connection of a statement, and begins and ends transactions. */
import type { Knex } from 'knex'
import { applyChanges } from './changes.ts'
import type { Binding, Db, QueryOptions, Row } from './db.ts'
import type { Dialect } from './dialect.ts'
import { workspacesOf } from './events.ts'
import type { Schema } from './schema.ts'
import { type EventListener, reads, type Storage, StorageError, shared, writes } from './storage.ts'
import { createUse, type Use } from './use.ts'
import { watchWrites } from './writing.ts'

/** A function that is called before each statement, with its text. Tests end the process in it. */
export type BeforeStatement = (sql: string) => void

export interface Pools<C> {
  readonly dialect: Dialect
  readonly schema: Schema
  readonly driver: string
  /** The name of the database in errors. */
  readonly label: string
  readonly file?: string
  /** The pool for reads outside of transactions. */
  readonly reader: Knex
  readonly writer: Knex
  run(connection: C, sql: string, bindings: readonly Binding[], options?: QueryOptions): Promise<Row[]>
  /** The options with which the driver runs statements of the query builder, which do not pass `run`. */
  readonly built?: Readonly<Record<string, unknown>>
  /** Gives up a connection that is in an unknown state: it is not used again. */
  discard(connection: C, error: unknown): void
  readonly beforeStatement?: BeforeStatement | undefined
  /** True where a statement outside of a transaction would run without the limits that transactions begin with. */
  readonly limitsTransactions?: boolean
}

/** A whole database, for work that goes through all of its tables. */
export interface WholeDatabase {
  /** Reads everything as it is at one moment, while others go on writing. */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Runs a transaction: all of its writes happen or none does. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Requires that the file did not change.
   * @throws StorageError `unavailable` where a file is read without locks and has changed since: the reads may be of different moments
   */
  requireUnchanged(): void
}

export function createStorage<C>(pools: Pools<C>): Storage & WholeDatabase {
  const { dialect, schema, driver, reader, writer, beforeStatement } = pools
  for (const pool of new Set([reader, writer])) {
    if (beforeStatement) pool.on('query', ({ sql }: { sql: string }) => beforeStatement(sql))
  }
  const use = createUse({ reader, writer }, Object.keys(dialect.reasons))
  const connections = new Connections(pools, use)
  const outside = connections.on(reader)
  const writing = watchWrites(dialect)
  const listeners: EventListener[] = []

  function tell(workspaceIds: ReadonlySet<string>): void {
    if (workspaceIds.size > 0) for (const listen of listeners) listen(workspaceIds)
  }

  async function forgetDeleted(): Promise<boolean> {
    const rows: Row[] = []
    for (const sql of dialect.forgetDeleted) rows.push(...(await connections.on(writer).query(sql)))
    return rows.every(({ busy = 0 }) => Number(busy) === 0)
  }

  const read = reads(outside)
  return {
    driver,
    file: pools.file,
    read,
    published: read.log,
    isReplicaAway: () => false,
    writing,
    use: use.state,
    write: async (work, { proves = false } = {}) => {
      const write = () =>
        connections.transaction(writer, dialect.begin, async (db) => {
          const tx = writes(db, schema)
          const result = await work(tx)
          const told = await tx.events.flush()
          await tx.audit.flush()
          return { result, told }
        })
      const { result, told } = await writing.watch(write, proves)
      tell(told)
      return result
    },
    apply: async (changes) => {
      const write = () =>
        pools.limitsTransactions
          ? connections.transaction(writer, dialect.begin, (db) => applyChanges(db, changes))
          : applyChanges(connections.on(writer), changes)
      await writing.watch(write, true)
      tell(workspacesOf(changes.events ?? []))
    },
    onEvents: (listener) => void listeners.push(listener),
    snapshot: (work) => connections.transaction(reader, dialect.beginSnapshot, work),
    transaction: (work) => connections.transaction(writer, dialect.begin, work),
    requireUnchanged() {},
    shared: dialect.shared && shared(outside, dialect.shared),
    forgetDeleted,
    rewrite: async () => {
      const erasable = schema.tables.filter(({ erase }) => erase).map(({ table }) => table.name)
      for (const sql of dialect.rewrite(erasable)) await connections.on(writer).query(sql)
      return forgetDeleted()
    },
    close: async () => {
      for (const pool of new Set([reader, writer])) await pool.destroy()
    },
  }
}

/** Runs statements and transactions on connections of the pools. */
class Connections<C> {
  readonly #pools: Pools<C>
  readonly #use: Use

  constructor(pools: Pools<C>, use: Use) {
    this.#pools = pools
    this.#use = use
  }

  /** A database in which each statement is a transaction by itself. */
  on(pool: Knex): Db {
    return {
      dialect: this.#pools.dialect,
      query: (sql, bindings, options) =>
        this.#with(pool, (connection) => this.#run(connection, sql, bindings, options)),
      table: (name) => this.#table(pool, name),
    }
  }

  transaction<T>(pool: Knex, begin: string, work: (db: Db) => Promise<T>): Promise<T> {
    return this.#with(pool, async (connection) => {
      const { db, end } = this.#within(connection)
      await this.#run(connection, begin)
      try {
        const result = await work(db)
        await end()
        await this.#run(connection, 'COMMIT')
        return result
      } catch (error) {
        await end()
        await this.#run(connection, 'ROLLBACK').catch((cause) => this.#pools.discard(connection, cause))
        throw error
      }
    })
  }

  #run(connection: C, sql: string, bindings: readonly Binding[] = [], options?: QueryOptions): Promise<Row[]> {
    this.#pools.beforeStatement?.(sql)
    return this.#pools.run(connection, sql, bindings, options)
  }

  #table(pool: Knex, name: string): Knex.QueryBuilder {
    return pool(name).options(this.#pools.built ?? {})
  }

  async #with<T>(pool: Knex, work: (connection: C) => Promise<T>): Promise<T> {
    try {
      const connection: C = await this.#use.waited(() => pool.client.acquireConnection())
      try {
        return await work(connection)
      } finally {
        pool.client.releaseConnection(connection)
      }
    } catch (error) {
      const { dialect, label } = this.#pools
      if (!dialect.isUnavailable(error)) throw error
      this.#use.failed(error)
      const mayReturn = dialect.mayReturn(error)
      throw new StorageError('unavailable', `cannot use ${label}: ${(error as Error).message}`, {
        cause: error,
        mayReturn,
      })
    }
  }

  /** The database as a transaction's work sees it. After the end of the work it refuses statements: each would be committed by itself. */
  #within(connection: C) {
    let isOpen = true
    let last: Promise<unknown> = Promise.resolve()
    function opened(): C {
      if (!isOpen) throw new Error('the transaction is over')
      return connection
    }
    const db: Db = {
      dialect: this.#pools.dialect,
      // Statements run one after the other, and none after one that failed: SQLite may have rolled back then, and would commit each statement that
      // follows by itself.
      query: async (sql, bindings, options) => {
        opened()
        const statement = last.then(() => this.#run(connection, sql, bindings, options))
        last = statement
        return statement
      },
      table: (name) => this.#table(this.#pools.writer, name).connection(opened()),
    }
    const end = async () => {
      isOpen = false
      await last.catch(() => {})
    }
    return { db, end }
  }
}

export interface OpenStorageOptions {
  readonly schema: Schema
  readonly beforeStatement?: BeforeStatement | undefined
  /** Replaces the preparation of the schema on opening. */
  readonly prepareSchema?: (db: Knex, dialect: Dialect, schema: Schema) => Promise<PreparedSchema>
  /** True to wait for answers as long as they take: for work that goes through everything while no client waits. */
  readonly patient?: boolean
  /**
   * True to open an existing database of this version and leave it as it is, also where its disk takes no writes. Otherwise it is made and migrated.
   */
  readonly asIs?: boolean
  /** The names of the drivers to try where a database has several; all of them by default. */
  readonly drivers?: readonly string[] | undefined
  /** The URL of a replica. */
  readonly readUrl?: string | undefined
}

export interface PreparedSchema {
  /** Names of the migrations that ran on opening. */
  readonly migrated: readonly string[]
  /** Sentences about what the schema lacks although its migrations have run: an edited migration had another text then. */
  readonly lacking: readonly string[]
}

export type OpenedStorage = Storage & WholeDatabase & PreparedSchema
