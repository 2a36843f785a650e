/** A table, described once: its columns, the type of its rows, and the way between a row and its cells follow from the description. */
import type { Instant } from '@claimcheck/core'
import type { Row } from './db.ts'
import type { ColumnType } from './dialect.ts'

/** A stored value as JSON carries it: bytes are hex. */
export type Cell = string | number | null

/** One for each column, in the order of the columns. */
export type Cells = readonly Cell[]

export interface Column<T = unknown> {
  readonly name: string
  readonly type: ColumnType
  readonly isJson?: boolean
  readonly isNullable?: boolean
  read(stored: unknown): T
}

/** Columns by the name that a row has for each. */
type Fields = Readonly<Record<string, Column>>

type RowOfFields<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Column<infer T> ? T : never }

export interface Table<R> {
  readonly name: string
  /** The columns that order the rows and identify one. */
  readonly key: readonly string[]
  readonly columns: readonly (Column & { readonly field: string })[]
  /** The columns for a SELECT: never `*`, whose meaning changes with the schema under statements that are prepared already. */
  readonly names: string
  cells(row: R): Cells
  /** Takes a row that has other columns as well. */
  read(stored: Row): R
}

export type RowOf<T extends { read(stored: Row): unknown }> = ReturnType<T['read']>

export function text<T extends string = string>(name: string): Column<T> {
  return { name, type: 'text', read: (stored) => String(stored) as T }
}

/** Of 32 bits. */
export function integer(name: string): Column<number> {
  return { name, type: 'integer', read: Number }
}

export function bigint(name: string): Column<number> {
  return { name, type: 'bigint', read: Number }
}

export const instant: (name: string) => Column<Instant> = bigint

export function bytes(name: string): Column<Uint8Array> {
  return { name, type: 'bytes', read: (stored) => stored as Uint8Array }
}

/** Stored as text. */
export function json<T>(name: string): Column<T> {
  return { name, type: 'text', isJson: true, read: (stored) => JSON.parse(String(stored)) }
}

export function nullable<T>(column: Column<T>): Column<T | null> {
  return { ...column, isNullable: true, read: (stored) => (stored === null ? null : column.read(stored)) }
}

export function table<F extends Fields>(
  name: string,
  key: readonly (keyof F & string)[],
  fields: F,
): Table<RowOfFields<F>> {
  const columns = Object.entries(fields).map(([field, column]) => ({ ...column, field }))
  return ofColumns(
    name,
    key.map((field) => fields[field]!.name),
    columns,
  )
}

/** Some columns of a table, in this order. */
export function part<R, F extends keyof R & string>(of: Table<R>, ...fields: readonly F[]): Table<Pick<R, F>> {
  const columns = fields.map((field) => of.columns.find((column) => column.field === field)!)
  return ofColumns(of.name, of.key, columns)
}

/** The names with the table's before each, for a SELECT from several tables. */
export function qualified({ name, columns }: Table<unknown>): string {
  return columns.map((column) => `${name}.${column.name}`).join(', ')
}

/** For an UPDATE: each column as another table has it. */
export function assignments({ columns }: Table<unknown>, from: string): string {
  return columns.map(({ name }) => `${name} = ${from}.${name}`).join(', ')
}

export function toHex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

function ofColumns<R>(name: string, key: readonly string[], columns: Table<R>['columns']): Table<R> {
  return {
    name,
    key,
    columns,
    names: columns.map((column) => column.name).join(', '),
    cells: (row) => columns.map((column) => toCell(column, (row as Row)[column.field])),
    read: (stored) => {
      const row: Record<string, unknown> = {}
      for (const column of columns) row[column.field] = column.read(stored[column.name])
      return row as R
    },
  }
}

function toCell({ isJson, type }: Column, value: unknown): Cell {
  if (value === null) return null
  if (isJson) return JSON.stringify(value)
  return type === 'bytes' ? toHex(value as Uint8Array) : (value as Cell)
}
