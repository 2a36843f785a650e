/** Every column that holds sealed values, with the context of each value. Who seals into another column names it here. */
import {
  mailContext,
  secondStepContext,
  secretContext,
  signingKeyContext,
  sourceKeyContext,
} from '../base/sealed-contexts.ts'
import { recordContext } from '../base/tokens.ts'
import type { Db } from './db.ts'
import { sealedSigningKeys } from './log.ts'
import { mails } from './mails.ts'
import { records } from './records.ts'
import { secondSteps } from './second-steps.ts'
import type { Table } from './table.ts'
import { connections } from './workspaces.ts'

export interface SealedColumn {
  readonly table: Table<unknown>
  readonly column: string
  /** By the row's primary key. A column of JSON has a sealed value for each name. */
  context(key: readonly string[], name: string): string
}

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: connections, column: 'sealed_secrets', context: ([id], name) => secretContext(id!, name) },
  { table: connections, column: 'source_key', context: ([id]) => sourceKeyContext(id!) },
  { table: mails, column: 'content', context: ([id]) => mailContext(id!) },
  { table: records, column: 'payload', context: ([kind, idHash]) => recordContext(kind!, idHash!) },
  { table: secondSteps, column: 'secret', context: ([userId]) => secondStepContext(userId!) },
  { table: sealedSigningKeys, column: 'sealed', context: ([keyId]) => signingKeyContext(keyId!) },
]

/** What a row has in a sealed column, as it is stored. */
export interface SealedCell {
  readonly key: readonly string[]
  readonly stored: string
}

/** A sealed value within a cell. */
export interface SealedValue {
  /** Undefined where the cell is one value. */
  readonly name: string | undefined
  readonly sealed: string
  readonly context: string
}

/** The values of a cell. @throws SyntaxError, TypeError for what is damaged */
export function valuesOf(column: SealedColumn, { key, stored }: SealedCell): readonly SealedValue[] {
  if (!isJson(column)) return [{ name: undefined, sealed: stored, context: column.context(key, '') }]
  return Object.entries(JSON.parse(stored) as Record<string, unknown>).map(([name, sealed]) => ({
    name,
    sealed: String(sealed),
    context: column.context(key, name),
  }))
}

/** The cell with these values in place of those that `valuesOf` found. */
export function toStored(column: SealedColumn, values: readonly Pick<SealedValue, 'name' | 'sealed'>[]): string {
  if (!isJson(column)) return values[0]!.sealed
  return JSON.stringify(Object.fromEntries(values.map(({ name, sealed }) => [name, sealed])))
}

export function sealedReads(db: Db) {
  return {
    async count(): Promise<number> {
      const counted = await Promise.all(
        SEALED_COLUMNS.map(({ table, column }) =>
          db.query(`SELECT COUNT(*) AS count FROM ${table.name} WHERE ${column} IS NOT NULL`),
        ),
      )
      return counted.reduce((sum, [row]) => sum + Number(row?.count), 0)
    },
    /** The next cells after this key, which is empty at first. */
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
    /** False when the row is gone, has something else there by now, or is held by another transaction, for which this does not wait. */
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
