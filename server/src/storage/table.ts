/** A table, described once: its columns, the type of its rows, and the way between a row and its cells follow from the description. */
import type { Instant } from '@claimcheck/core/rules'
import type { Row } from './db.ts'
import type { ColumnType } from './dialect.ts'
import type { LargeValues, Slice } from './large-values.ts'

/** A stored value as JSON carries it, with bytes as hex, or its place among `LargeValues`. */
export type Cell = string | number | Slice | null

/** The cells of a row, one for each column, in the order of the columns. */
export type Cells = readonly Cell[]

export interface Column<T = unknown> {
  readonly name: string
  readonly type: ColumnType
  /** True for JSON, which is stored as text. */
  readonly isJson: boolean
  readonly isNullable: boolean
  /** True for a column whose values go to `LargeValues` where a statement has such. */
  readonly isLarge: boolean
  /** Computes the column's value from the rest of the row, if it is not given. */
  readonly computed: ((row: never) => unknown) | null
  /** The type of a row's value in this column, for the compiler alone. */
  readonly value?: T
}

/** Columns by the names of the row's members. */
type Fields = Readonly<Record<string, Column>>

type RowOfFields<F extends Fields> = { readonly [Name in keyof F]: F[Name] extends Column<infer T> ? T : never }

export interface Table<R> {
  readonly name: string
  /** The columns that order the rows and identify each. */
  readonly key: readonly string[]
  readonly columns: readonly (Column & { readonly field: string })[]
  /** The columns for a SELECT: never `*`, which changes its meaning with the schema under prepared statements. */
  readonly names: string
  /**
   * Makes the cells of a row.
   * @param large collects the large values
   */
  cells(row: R, large?: LargeValues): Cells
  /** Reads a stored row, which may have other columns as well. */
  read(stored: Row): R
}

export type RowOf<T extends { read(stored: Row): unknown }> = ReturnType<T['read']>

export function text<T extends string = string>(name: string): Column<T> {
  return column(name, 'text')
}

/** A column of 32-bit integers. */
export function integer(name: string): Column<number> {
  return column(name, 'integer')
}

export function bigint(name: string): Column<number> {
  return column(name, 'bigint')
}

export const instant: (name: string) => Column<Instant> = bigint

export function bytes(name: string): Column<Uint8Array> {
  return column(name, 'bytes')
}

export function json<T>(name: string): Column<T> {
  return column(name, 'text', { isJson: true })
}

export function nullable<T>({ name, type, ...kind }: Column<T>): Column<T | null> {
  return column(name, type, { ...kind, isNullable: true })
}

/** A column that is only written, with values computed from the row. */
export function computed<T, R>({ name, type, ...kind }: Column<T>, of: (row: R) => T): Column<T> {
  return column(name, type, { ...kind, computed: of })
}

/**
 * A column whose values may be large.
 * @param column a column of text or bytes
 */
export function large<T>({ name, type, ...kind }: Column<T>): Column<T> {
  return column(name, type, { ...kind, isLarge: true })
}

export function table<F extends Fields>(
  name: string,
  key: readonly (keyof F & string)[],
  fields: F,
): Table<RowOfFields<F>> {
  const names = key.map((field) => fields[field]!.name)
  return ofColumns(name, names, named(fields))
}

/** Describes the result of a statement that is no row of a table. */
export function answer<F extends Fields>(fields: F): Table<RowOfFields<F>> {
  return table('', [], fields)
}

/** Describes the rows of a table, extended by other columns of a statement. */
export function extended<R, F extends Fields>({ name, key, columns }: Table<R>, fields: F): Table<R & RowOfFields<F>> {
  return ofColumns(name, key, [...columns, ...named(fields)])
}

/** Describes some columns of a table, in this order. */
export function part<R, F extends keyof R & string>(of: Table<R>, ...fields: readonly F[]): Table<Pick<R, F>> {
  const columns = fields.map((field) => of.columns.find((column) => column.field === field)!)
  return ofColumns(of.name, of.key, columns)
}

/** Lists the columns with the table's name before each, for a SELECT from several tables. */
export function qualified({ name, columns }: Table<unknown>): string {
  return columns.map((column) => `${name}.${column.name}`).join(', ')
}

/** Makes the assignments of an UPDATE: each column gets the value that another table has. */
export function assignments({ columns }: Table<unknown>, from: string): string {
  return columns.map(({ name }) => `${name} = ${from}.${name}`).join(', ')
}

export function toHex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

type Kind = Omit<Column, 'name' | 'type' | 'value'>

// Every column is an object of one shape, and rows are copies of one: the loops below run for thousands of claims a second.
function column<T>(
  name: string,
  type: ColumnType,
  { isJson = false, isNullable = false, isLarge = false, computed = null }: Partial<Kind> = {},
): Column<T> {
  return { name, type, isJson, isNullable, isLarge, computed }
}

function named(fields: Fields): Table<unknown>['columns'] {
  return Object.entries(fields).map(([field, column]) => ({ ...column, field }))
}

function ofColumns<R>(name: string, key: readonly string[], columns: Table<R>['columns']): Table<R> {
  const fields = columns.map(({ field }) => field)
  const empty = Object.fromEntries(fields.map((field) => [field, null]))
  const encoded = [...columns.entries()].filter(
    ([, { isJson, isLarge, computed, type }]) => isJson || isLarge || computed || type === 'bytes',
  )
  return {
    name,
    key,
    columns,
    names: columns.map((column) => column.name).join(', '),
    cells: (row, large) => {
      const cells = fields.map((field) => (row as Row)[field])
      for (const [index, column] of encoded) {
        cells[index] = encode(column, column.computed ? column.computed(row as never) : cells[index], large)
      }
      return cells as Cell[]
    },
    read: (stored) => {
      const row: Record<string, unknown> = { ...empty }
      for (const column of columns) row[column.field] = fromStored(column, stored[column.name])
      return row as R
    },
  }
}

function encode({ isJson, isLarge, type }: Column, value: unknown, large: LargeValues | undefined): Cell {
  if (value === null) return null
  const stored = isJson ? JSON.stringify(value) : (value as string | Uint8Array)
  if (isLarge && large) return large.add(stored)
  return type === 'bytes' ? toHex(stored as Uint8Array) : (stored as string)
}

/** Converts a stored value to the type that the row has, also in a damaged database where that is possible. */
function fromStored({ isJson, isNullable, type }: Column, stored: unknown): unknown {
  if (stored === null && isNullable) return null
  if (isJson) return JSON.parse(String(stored))
  if (type === 'bytes') return stored
  return type === 'text' ? String(stored) : Number(stored)
}
