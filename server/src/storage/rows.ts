/** Reading and inserting rows. A list of rows is one JSON text, which the database unfolds: a statement's text is the same for one row and for a thousand. */

import type { Binding, Db, QueryOptions, Row } from './db.ts'
import type { Expressions } from './dialect.ts'
import type { Cell, Cells, Table } from './table.ts'

/** The rows that meet what follows FROM. */
export async function selectRows<R>(
  db: Db,
  table: Table<R>,
  rest: string,
  bindings?: readonly Binding[],
  options?: QueryOptions,
): Promise<R[]> {
  return (await db.query(`SELECT ${table.names} FROM ${table.name} ${rest}`, bindings, options)).map(table.read)
}

/** The first of them. */
export async function selectRow<R>(
  db: Db,
  table: Table<R>,
  rest: string,
  bindings?: readonly Binding[],
): Promise<R | undefined> {
  return (await selectRows(db, table, rest, bindings))[0]
}

/** The rows of one binding, made by `toJson`, as something to select from. */
export function rowsOf(sql: Pick<Expressions, 'cell' | 'unfold'>, { columns }: Table<unknown>, binding = '?'): string {
  const cells = columns.map(({ name, type }, index) => `${sql.cell(index, type)} AS ${name}`)
  return `(SELECT ${cells.join(', ')} FROM ${sql.unfold(binding)})`
}

export function toJson<R>(table: Table<R>, rows: readonly R[]): string {
  return JSON.stringify(rows.map(table.cells))
}

/** The cells of a row by their columns, as knex's builder takes them. */
export function columnsOf<R>({ columns, cells }: Table<R>, row: R): Readonly<Record<string, Cell>> {
  const all = cells(row)
  return Object.fromEntries(columns.map(({ name }, index) => [name, all[index]!]))
}

/** Inserts rows in one statement. Returns what `suffix` returns. */
export function insertRows<R>(db: Db, table: Table<R>, rows: readonly NoInfer<R>[], suffix?: string): Promise<Row[]> {
  return insertCells(db, table, rows.map(table.cells), suffix)
}

export async function insertCells(db: Db, table: Table<unknown>, rows: readonly Cells[], suffix = ''): Promise<Row[]> {
  if (rows.length === 0) return []
  // WHERE tells SQLite that ON CONFLICT, if it follows, is not a join's ON.
  const sql = `INSERT INTO ${table.name} (${table.names})
    SELECT ${table.names} FROM ${rowsOf(db.dialect, table)} AS new WHERE true ${suffix}`
  return db.query(sql, [JSON.stringify(rows)])
}
