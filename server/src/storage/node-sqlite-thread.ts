/** The thread of a connection by `node:sqlite`: opens the file, and executes what `node-sqlite.ts` orders. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Row } from './db.ts'

export type Order =
  /** Prepares a statement, without an answer. Statements are numbered from 0 in this order. */
  | { readonly kind: 'prepare'; readonly sql: string }
  | { readonly kind: 'prepared'; readonly statement: number; readonly bindings: readonly unknown[] }
  | { readonly kind: 'all' | 'run'; readonly sql: string; readonly bindings: readonly unknown[] }
  | { readonly kind: 'exec'; readonly sql: string }
  /** Closes the file. This is the last order, which the thread's end answers. */
  | { readonly kind: 'close' }

export interface Answer {
  /** The error, with SQLite's extended code where it is SQLite's. */
  readonly error?: { readonly code: number | undefined; readonly message: string }
  readonly rows?: Row[]
  /** Columns that hold bytes, which arrive without their class. */
  readonly bytes?: readonly string[]
  readonly changed?: { readonly changes: number; readonly lastID: number }
}

/** The used part of `node:sqlite`, which Node.js 20 does not have. */
interface Sqlite {
  readonly DatabaseSync: new (
    file: string,
    options: { readonly enableForeignKeyConstraints: boolean },
  ) => {
    prepare(sql: string): Statement
    exec(sql: string): void
    close(): void
  }
}

interface Statement {
  all(...bindings: Bound[]): Row[]
  run(...bindings: Bound[]): { readonly changes: number; readonly lastInsertRowid: number }
}

type Bound = string | number | bigint | Uint8Array | null

const port: MessagePort = parentPort!

function open(DatabaseSync: Sqlite['DatabaseSync'], file: string): void {
  // Pragmas decide about foreign keys, as with sqlite3.
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  const prepared: Statement[] = []
  const unprepared: string[] = []

  function statementOf(index: number): Statement {
    prepared[index] ??= database.prepare(unprepared[index]!)
    return prepared[index]
  }

  function execute(order: Exclude<Order, { readonly kind: 'prepare' | 'close' }>): Answer {
    switch (order.kind) {
      case 'prepared':
        return read(statementOf(order.statement), order.bindings)
      case 'all':
        return read(database.prepare(order.sql), order.bindings)
      case 'run': {
        const { changes, lastInsertRowid } = database.prepare(order.sql).run(...order.bindings.map(toBound))
        return { changed: { changes, lastID: lastInsertRowid } }
      }
      case 'exec':
        database.exec(order.sql)
        return {}
    }
  }

  function close(): void {
    database.close()
    port.close()
  }

  port.on('message', (order: Order) => {
    if (order.kind === 'close') close()
    else if (order.kind === 'prepare') unprepared.push(order.sql)
    else answer(() => execute(order))
  })
}

function answer(work: () => Answer): void {
  try {
    port.postMessage(work())
  } catch (error) {
    const { message, errcode } = error as Error & { readonly errcode?: number }
    port.postMessage({ error: { code: errcode, message } } satisfies Answer)
  }
}

function read(statement: Statement, bindings: readonly unknown[]): Answer {
  const rows = statement.all(...bindings.map(toBound))
  const bytes = new Set<string>()
  for (const row of rows) for (const column in row) if (row[column] instanceof Uint8Array) bytes.add(column)
  return { rows, bytes: [...bytes] }
}

/** Converts a value for binding as sqlite3 does, except for whole numbers, which `node:sqlite` binds as fractions. */
function toBound(value: unknown): Bound {
  if (Number.isSafeInteger(value)) return BigInt(value as number)
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (value instanceof Date) return BigInt(value.getTime())
  // Node.js 22 would read such a text up to its first NUL, which is not what was stored. Postgres takes none either.
  if (typeof value === 'string' && value.includes('\0')) throw new Error('a text with a NUL cannot be stored')
  return (value ?? null) as Bound
}

const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as Sqlite
answer(() => {
  open(DatabaseSync, workerData as string)
  return {}
})
