/**
 * `node:sqlite` with the interface of the package sqlite3, as far as it is used. It blocks the thread that calls it, so each connection
 * has a thread (`node-sqlite-thread.ts`), which executes the connection's orders one after the other and answers them in that order.
 */
import { Worker } from 'node:worker_threads'
import type { Binding, Row } from './db.ts'
import type { Answer, Order } from './node-sqlite-thread.ts'

const SCRIPT = new URL('./node-sqlite-thread.js', import.meta.url)

/** SQLite's result codes, by the names that the package uses: https://www.sqlite.org/rescode.html */
const CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  9: 'SQLITE_INTERRUPT',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  17: 'SQLITE_SCHEMA',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  21: 'SQLITE_MISUSE',
  25: 'SQLITE_RANGE',
  26: 'SQLITE_NOTADB',
}
const IO_ERROR = 10
const MISUSE = 21
/** The mask for the lowest byte of an extended result code, which holds the code. */
const CODE_BITS = 0xff

interface Changed {
  readonly changes: number
  readonly lastID: number
}

export type Done = (error: Error | null) => void

/** A callback with the rows of a statement. knex reads what the statement changed from `this`. */
type Answered = (this: Changed, error: Error | null, rows: Row[]) => void

const NOTHING: Changed = { changes: 0, lastID: 0 }

/** The part of a connection of the package sqlite3 that this service and knex use. */
class Database {
  /** The error that ended the connection. knex's pool reads it, and then makes another connection. */
  __knex__disposed: Error | undefined
  readonly #thread: Worker
  readonly #waiting: Answered[] = []
  #closed: Done | undefined
  #prepared = 0

  constructor(file: string, _flags: number, done: Done) {
    // The flags of this process need not fit a thread, so none is passed on. Node.js 22 warns that SQLite is experimental.
    this.#thread = new Worker(SCRIPT, { workerData: file, execArgv: ['--disable-warning=ExperimentalWarning'] })
    this.#thread.on('message', (answer: Answer) => this.#answer(answer))
    this.#thread.on('error', (error) => this.#fail(error))
    this.#thread.on('messageerror', (error) => {
      // A lost answer belongs to an unknown order: none may get that of another.
      this.#fail(error)
      void this.#thread.terminate()
    })
    this.#thread.on('exit', () => this.#exited())
    this.#waiting.push(done)
  }

  prepare(sql: string) {
    this.#thread.postMessage({ kind: 'prepare', sql } satisfies Order)
    const statement = this.#prepared++
    return {
      all: (bindings: readonly Binding[], done: Answered): void =>
        this.#order({ kind: 'prepared', statement, bindings: copied(bindings) }, done),
      finalize() {},
    }
  }

  exec(sql: string, done: Done): void {
    this.#order({ kind: 'exec', sql }, done)
  }

  all(sql: string, bindings: readonly Binding[], done: Answered): void {
    this.#order({ kind: 'all', sql, bindings: copied(bindings) }, done)
  }

  run(sql: string, bindings: readonly Binding[], done: Answered): void {
    this.#order({ kind: 'run', sql, bindings: copied(bindings) }, done)
  }

  close(done: Done): void {
    // A connection that has ended is closed already.
    if (this.__knex__disposed) {
      done(null)
      return
    }
    this.#closed = done
    this.__knex__disposed = toError({ code: MISUSE, message: 'the connection is closed' })
    this.#thread.postMessage({ kind: 'close' } satisfies Order)
  }

  #order(order: Order, done: Answered): void {
    if (this.__knex__disposed) {
      done.call(NOTHING, this.__knex__disposed, [])
      return
    }
    this.#waiting.push(done)
    this.#thread.postMessage(order)
  }

  #answer({ error, rows = [], bytes = [], changed = NOTHING }: Answer): void {
    const answered = this.#waiting.shift()
    // An answer without a waiting order came after the thread's end was known, which answered the order.
    if (!answered) return
    for (const column of bytes) for (const row of rows) toBuffer(row, column)
    answered.call(changed, error ? toError(error) : null, rows)
  }

  /** Fails all orders of a thread that ended, as where memory is short. Orders may have been executed or not. */
  #fail(cause: Error): void {
    const message = `the thread of the connection has ended: ${cause.message}`
    const error = toError({ code: IO_ERROR, message })
    this.__knex__disposed = error
    for (const answered of this.#waiting.splice(0)) answered.call(NOTHING, error, [])
  }

  /** Handles the exit of the thread. An order without an answer may not have been executed. */
  #exited(): void {
    if (this.#waiting.length > 0 || !this.__knex__disposed) this.#fail(new Error('it exited'))
    this.#closed?.(null)
  }
}

/** The module. `OPEN_URI` is the flag with which the name of a file may be a URI. */
export const nodeSqlite = { Database, OPEN_READWRITE: 0, OPEN_CREATE: 0, OPEN_URI: 1 }

export type SqliteModule = typeof nodeSqlite
export type Connection = Database

/** Copies the bytes of bindings: a message takes along all the memory that its bytes are a part of. */
function copied(bindings: readonly Binding[] = []): Binding[] {
  return bindings.map((binding) => (binding instanceof Uint8Array ? Uint8Array.prototype.slice.call(binding) : binding))
}

function toBuffer(row: Record<string, unknown>, column: string): void {
  const value = row[column]
  if (value instanceof Uint8Array) row[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

function toError({ code, message }: NonNullable<Answer['error']>): Error {
  const name = (code !== undefined && CODES[code & CODE_BITS]) || 'SQLITE_ERROR'
  return Object.assign(new Error(`${name}: ${message}`), { code: name, errno: code })
}
