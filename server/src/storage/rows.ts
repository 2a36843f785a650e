/** Lists of rows as one JSON text, which both databases unfold: a statement's text is the same for one row and for a thousand. */
import type { Db, Dialect, Row } from './db.ts'

export type ColumnType = 'text' | 'integer' | 'bigint' | 'bytes'

/** A table's columns in their order. */
export type Columns = Readonly<Record<string, ColumnType>>

export type Cell = string | number | null | Uint8Array

/** One cell for each column, in the same order. */
export type Cells = readonly Cell[]

/** The names, for a SELECT: never `*`, whose meaning changes with the schema under statements that are prepared already. */
export function names(columns: Columns): string {
  return Object.keys(columns).join(', ')
}

/** The rows of one binding, made by `toJson`, as something to select from. */
export function rowsOf(dialect: Dialect, columns: Columns, binding = '?'): string {
  const cells = Object.entries(columns).map(([name, type], index) => `${CELL[dialect](index, type)} AS ${name}`)
  return `(SELECT ${cells.join(', ')} FROM ${UNFOLD[dialect](binding)})`
}

/** The bytes of what `toHex` made. */
export function bytesOf(dialect: Dialect, hex: string): string {
  return dialect === 'sqlite' ? `unhex(${hex})` : `decode(${hex}, 'hex')`
}

export function toHex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

/** The texts of one binding, a JSON array of them, as something that a column is IN. */
export function textsOf(dialect: Dialect): string {
  return dialect === 'sqlite'
    ? '(SELECT value FROM json_each(CAST(? AS text)))'
    : '(SELECT jsonb_array_elements_text(CAST(? AS jsonb)))'
}

export function toJson(rows: readonly Cells[]): string {
  return JSON.stringify(rows.map((cells) => cells.map(toJsonCell)))
}

/** Inserts rows in one statement. Returns what `suffix` returns. */
export async function insertRows(
  db: Db,
  table: string,
  columns: Columns,
  rows: readonly Cells[],
  suffix = '',
): Promise<Row[]> {
  if (rows.length === 0) return []
  const list = names(columns)
  // WHERE tells SQLite that ON CONFLICT, if it follows, is not a join's ON.
  const sql = `INSERT INTO ${table} (${list}) SELECT ${list} FROM ${rowsOf(db.dialect, columns)} AS new WHERE true ${suffix}`
  return db.query(sql, [toJson(rows)])
}

export function nullableNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

export function nullableText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}

// jsonb, which finds each member at once: json would read the row's text again for each column.
const UNFOLD: Readonly<Record<Dialect, (binding: string) => string>> = {
  sqlite: (binding) => `jsonb_each(CAST(${binding} AS text))`,
  postgres: (binding) => `jsonb_array_elements(CAST(${binding} AS jsonb))`,
}

const POSTGRES_TYPES: Readonly<Record<Exclude<ColumnType, 'bytes'>, string>> = {
  text: 'text',
  integer: 'integer',
  bigint: 'bigint',
}

const CELL: Readonly<Record<Dialect, (index: number, type: ColumnType) => string>> = {
  sqlite: (index, type) => (type === 'bytes' ? bytesOf('sqlite', `value->>${index}`) : `value->>${index}`),
  postgres: (index, type) =>
    type === 'bytes' ? bytesOf('postgres', `value->>${index}`) : `CAST(value->>${index} AS ${POSTGRES_TYPES[type]})`,
}

function toJsonCell(cell: Cell): string | number | null {
  return cell instanceof Uint8Array ? toHex(cell) : cell
}
