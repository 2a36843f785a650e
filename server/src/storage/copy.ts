/** Reads every row of a database as it is at one moment, and writes rows into an empty database, of the same dialect or of another. */
import type { Knex } from 'knex'
import { type Db, runAll } from './db.ts'
import type { Dialect } from './dialect.ts'
import { BOOKKEEPING, migrate } from './migrate.ts'
import { openStorage } from './open.ts'
import type { OpenedStorage } from './pools.ts'
import { countRows, insertCells } from './rows.ts'
import { copiedTables, type Schema } from './schema.ts'
import { StorageError } from './storage.ts'
import { type Cell, type Cells, type Table, toHex } from './table.ts'

/** The number of copied rows of each table. */
export type Copied = Readonly<Record<string, number>>

export type CopyProgress = (rows: number, allRows: number) => void

/** All rows of an installation: a database, or a backup of one. */
export interface RowSource {
  count(table: Table<unknown>): Promise<number>
  /** Reads all rows of a table, some at a time, each as its cells are stored. */
  pages(table: Table<unknown>): AsyncIterable<readonly Cells[]>
}

/** The number of rows to read at a time, which bounds memory: the largest rows hold some 10 KB. */
const ROWS_PER_PAGE = 1000

/** Opens a database of this version, and leaves it as it is. @throws StorageError `unavailable` when there is none */
export function openSource(databaseUrl: string, schema: Schema): Promise<OpenedStorage> {
  return openStorage({ databaseUrl }, { schema, patient: true, asIs: true })
}

/** Opens a database without a row, and brings it to this version's schema. @throws StorageError `not_empty` */
export function openTarget(databaseUrl: string, schema: Schema): Promise<OpenedStorage> {
  const prepareSchema = async (db: Knex, dialect: Dialect) => {
    await refuseRows(dialect, (name) => db(name))
    return migrate(db, dialect, schema)
  }
  return openStorage({ databaseUrl }, { schema, prepareSchema, patient: true })
}

/**
 * Copies all rows.
 * @throws StorageError `not_empty` when another program has written to the target since it was opened
 */
export async function copyRows(from: RowSource, to: Db, schema: Schema, onProgress: CopyProgress = () => {}) {
  const tables = copiedTables(schema)
  const names = tables.map(({ name }) => name)
  await stayIdle(to)
  // Tables stay locked until the end, so that no host begins another installation there.
  await runAll(to, to.dialect.lockTables(names))
  await refuseRows(to.dialect, to.table)
  const { copied, pages } = await countedPages(from, tables, onProgress)
  for (const table of tables) {
    for await (const rows of pages(table)) {
      await insertCells(to, table, rows).catch((cause) => {
        throw to.dialect.refusesRows(cause) ? refusal(table.name, cause) : cause
      })
    }
  }
  // The first queries would else be planned for empty tables.
  await runAll(to, to.dialect.analyze(names))
  return copied
}

/** Counts the rows, and reports the number of those that were read. */
export async function countedPages(from: RowSource, tables: readonly Table<unknown>[], onProgress: CopyProgress) {
  const counts = new Map<string, number>()
  for (const table of tables) counts.set(table.name, await from.count(table))
  const all = [...counts.values()].reduce((sum, rows) => sum + rows, 0)
  const copied: Copied = Object.fromEntries(counts)
  let done = 0
  async function* pages(table: Table<unknown>) {
    for await (const rows of from.pages(table)) {
      yield rows
      done += rows.length
      onProgress(done, all)
    }
  }
  return { copied, pages }
}

/** Lets this transaction wait for the other database, for as long as that takes. */
export async function stayIdle(db: Db): Promise<void> {
  await runAll(db, db.dialect.allowIdle)
}

function refusal(table: string, cause: unknown): StorageError {
  const reason = (cause as Error).message
  const message = `the source is damaged, and nothing was copied: rows of ${table} are refused (${reason}). claimcheck doctor says more`
  return new StorageError('corrupt', message, { cause })
}

/** Reads the rows of a snapshot, in the order of their keys. */
export function rowsOfDatabase(db: Db): RowSource {
  return {
    count: ({ name }) => countRows(db, name),
    async *pages({ name, names, key, columns }) {
      const order = key.join(', ')
      const first = `SELECT ${names} FROM ${name} ORDER BY ${order} LIMIT ?`
      const next = `SELECT ${names} FROM ${name} WHERE (${order}) > (${key.map(() => '?').join(', ')}) ORDER BY ${order} LIMIT ?`
      let rows = await db.query(first, [ROWS_PER_PAGE])
      while (rows.length > 0) {
        yield rows.map((row) => columns.map((column) => toCell(row[column.name])))
        const last = rows.at(-1)!
        rows = await db.query(next, [...key.map((column) => last[column] as string | number), ROWS_PER_PAGE])
      }
    },
  }
}

/** Makes a cell of a stored value, also of one that is not of the column's type. */
function toCell(stored: unknown): Cell {
  return stored instanceof Uint8Array ? toHex(stored) : (stored as Cell)
}

/** Refuses rows in any table, also in one that is not the service's. */
async function refuseRows(dialect: Dialect, table: (name: string) => Knex.QueryBuilder): Promise<void> {
  for (const name of await dialect.tableNames(table)) {
    if (BOOKKEEPING.includes(name) || !(await table(name).first())) continue
    throw new StorageError('not_empty', `the target is not empty: there are rows in its table ${name}`)
  }
}
