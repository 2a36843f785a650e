/**
 * Reads and inserts rows. A list of rows is one JSON text, which the database unfolds: a statement's text is the same for one row and for a thousand.
 */

import type { Binding, Db, QueryOptions, Row } from './db.ts'
import type { Expressions } from './dialect.ts'
import type { LargeValues } from './large-values.ts'
import type { Cell, Cells, Table } from './table.ts'

/** Selects rows of a table. The rest of the statement follows FROM and the table's name. */
export async function selectRows<R>(
  db: Db,
  table: Table<R>,
  rest: string,
  bindings?: readonly Binding[],
  options?: QueryOptions,
): Promise<R[]> {
  return (await db.query(`SELECT ${table.names} FROM ${table.name} ${rest}`, bindings, options)).map(table.read)
}

/** Selects the first row of a table that the rest of the statement finds. */
export async function selectRow<R>(
  db: Db,
  table: Table<R>,
  rest: string,
  bindings?: readonly Binding[],
): Promise<R | undefined> {
  return (await selectRows(db, table, rest, bindings))[0]
}

/** Counts rows, by a statement that begins after FROM. */
export async function countRows(db: Db, from: string, bindings?: readonly Binding[]): Promise<number> {
  const [row] = await db.query(`SELECT COUNT(*) AS count FROM ${from}`, bindings)
  return Number(row!.count)
}

/**
 * Makes a table to select from of the rows in one binding, made by `toJson`.
 * @param large the binding of their `LargeValues`, if any
 */
export function rowsOf(
  sql: Pick<Expressions, 'cell' | 'slice' | 'unfold'>,
  { columns }: Table<unknown>,
  binding = '?',
  large?: string,
): string {
  const cells = columns.map(({ name, type, isLarge }, index) => {
    const cell = isLarge && large !== undefined ? sql.slice(large, index, type) : sql.cell(index, type)
    return `${cell} AS ${name}`
  })
  return `(SELECT ${cells.join(', ')} FROM ${sql.unfold(binding)})`
}

/**
 * Writes rows as JSON for a binding.
 * @param large collects their large values
 */
export function toJson<R>(table: Table<R>, rows: readonly R[], large?: LargeValues): string {
  return JSON.stringify(rows.map((row) => table.cells(row, large)))
}

/** Returns the cells of a row by their columns, as knex's builder takes them. */
export function columnsOf<R>({ columns, cells }: Table<R>, row: R): Readonly<Record<string, Cell>> {
  const all = cells(row)
  return Object.fromEntries(columns.map(({ name }, index) => [name, all[index]!]))
}

/** Inserts rows in one statement. Returns the rows that `suffix` returns. */
export function insertRows<R>(db: Db, table: Table<R>, rows: readonly NoInfer<R>[], suffix?: string): Promise<Row[]> {
  const cells = rows.map((row) => table.cells(row))
  return insertCells(db, table, cells, suffix)
}

/** Inserts a row. False when another row has the same values in these columns. */
export async function insertIfNew<R>(db: Db, table: Table<R>, row: NoInfer<R>, columns: string): Promise<boolean> {
  const inserted = await insertRows(db, table, [row], `ON CONFLICT (${columns}) DO NOTHING RETURNING ${columns}`)
  return inserted.length === 1
}

export async function insertCells(db: Db, table: Table<unknown>, rows: readonly Cells[], suffix = ''): Promise<Row[]> {
  if (rows.length === 0) return []
  // WHERE tells SQLite that an ON CONFLICT after it is not a join's ON.
  const sql = `INSERT INTO ${table.name} (${table.names})
    SELECT ${table.names} FROM ${rowsOf(db.dialect, table)} AS new WHERE true ${suffix}`
  return db.query(sql, [JSON.stringify(rows)])
}
