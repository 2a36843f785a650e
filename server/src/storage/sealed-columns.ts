/** Rows of the columns that hold sealed values, and how these are sealed anew. */
import type { Db } from './db.ts'
import { countRows } from './rows.ts'
import type { Table } from './table.ts'

/**
 * Makes the context under which a value is sealed: it opens nowhere else.
 * @param name the name of the value in a cell of JSON
 */
export type SealContext = (key: readonly string[], name: string) => string

export interface SealedColumn {
  readonly table: Table<unknown>
  readonly column: string
  readonly context: SealContext
}

/** A row's cell in a sealed column, as it is stored. */
export interface SealedCell {
  readonly key: readonly string[]
  readonly stored: string
}

/** A sealed value within a cell. */
export interface SealedValue {
  /** The name of the value in a cell of JSON; undefined where the cell is one value. */
  readonly name: string | undefined
  readonly sealed: string
  readonly context: string
}

/**
 * Lists the sealed values of a cell.
 * @throws SyntaxError, TypeError for a damaged cell
 */
export function valuesOf(column: SealedColumn, { key, stored }: SealedCell): readonly SealedValue[] {
  if (!isJson(column)) return [{ name: undefined, sealed: stored, context: column.context(key, '') }]
  return Object.entries(JSON.parse(stored) as Record<string, unknown>).map(([name, sealed]) => ({
    name,
    sealed: String(sealed),
    context: column.context(key, name),
  }))
}

/** Makes the cell with these values instead of those that `valuesOf` found. */
export function toStored(column: SealedColumn, values: readonly Pick<SealedValue, 'name' | 'sealed'>[]): string {
  if (!isJson(column)) return values[0]!.sealed
  return JSON.stringify(Object.fromEntries(values.map(({ name, sealed }) => [name, sealed])))
}

export function sealedReads(db: Db) {
  return {
    async count(columns: readonly SealedColumn[]): Promise<number> {
      const counts = await Promise.all(
        columns.map(({ table, column }) => countRows(db, `${table.name} WHERE ${column} IS NOT NULL`)),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },
    /** Lists the next cells after this key, which is empty at first. */
    async cells({ table, column }: SealedColumn, after: readonly string[], limit: number): Promise<SealedCell[]> {
      const key = table.key.join(', ')
      const sql = `SELECT ${key}, ${column} AS stored FROM ${table.name}
        WHERE ${column} IS NOT NULL AND (${key}) > (${table.key.map(() => '?').join(', ')}) ORDER BY ${key} LIMIT ?`
      const from = table.key.map((_, index) => after[index] ?? '')
      const rows = await db.query(sql, [...from, limit])
      return rows.map((row) => ({ key: table.key.map((name) => String(row[name])), stored: String(row.stored) }))
    },
  }
}

export function sealedWrites(db: Db) {
  return {
    ...sealedReads(db),
    /**
     * Replaces a cell. False when the row is gone, has another value there by now, or is held by another transaction, for which this does not wait.
     */
    async replace({ table, column }: SealedColumn, { key, stored }: SealedCell, by: string): Promise<boolean> {
      const which = [...table.key, column].map((name) => `${name} = ?`).join(' AND ')
      const lock = `SELECT 1 FROM ${table.name} WHERE ${which} ${db.dialect.forUpdateSkipLocked}`
      const bindings = [...key, stored]
      if ((await db.query(lock, bindings)).length === 0) return false
      await db.query(`UPDATE ${table.name} SET ${column} = ? WHERE ${which}`, [by, ...bindings])
      return true
    },
  }
}

function isJson({ table, column }: SealedColumn): boolean {
  return table.columns.some(({ name, isJson }) => name === column && isJson)
}
