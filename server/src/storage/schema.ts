/** The schema of an installation, put together from the features' own: tables, migrations, and what is done with rows of each table. */
import type { AnchorExaminer } from '@claimcheck/core/hosting'
import type { Knex } from 'knex'
import type { Problems } from '../base/problems.ts'
import type { Dialect } from './dialect.ts'
import type { Erase } from './erasures.ts'
import type { SealContext, SealedColumn } from './sealed-columns.ts'
import type { Reads } from './storage.ts'
import type { Table } from './table.ts'

/** Runs SQL, and makes tables, in the transaction of all migrations. */
export type MigrationDb = Knex

export interface Migration {
  up(db: MigrationDb, dialect: Dialect): Promise<void>
}

/** Migrations by names that order them over all features: a number, then the feature, as `005-claims`. */
export type Migrations = Readonly<Record<string, Migration>>

export interface StoredTable {
  readonly table: Table<unknown>
  /** False for a table whose rows `copy` leaves behind. */
  readonly isCopied?: false
  /** True for a table that only a database that hosts share has. */
  readonly isShared?: true
  /** Owners by column: the table with the row that the column names by its primary key. Doctor finds rows without an owner. */
  readonly owners?: Readonly<Record<string, Table<unknown>>>
  /** More tables that rows refer to, which are copied before. */
  readonly refersTo?: readonly Table<unknown>[]
  /** The contexts of sealed columns. A column of JSON has a sealed value for each name. */
  readonly sealed?: Readonly<Record<string, SealContext>>
  /** Erases content of receipts in the table's rows, in the transaction that erases the receipts. */
  readonly erase?: Erase
}

/** The tools that doctor gives to examinations of rows. */
export interface Examination {
  readonly read: Reads
  readonly problems: Problems
  /** Reads the signed transactions of an anchor. */
  readonly examineAnchor: AnchorExaminer
}

/** Derives from other rows what rows should hold, and adds a sentence for each that differs. Hosts may write meanwhile. */
export type Examine = (examination: Examination) => Promise<void>

/** The tables of a feature, with their migrations and examination. */
export interface Stored {
  readonly tables: readonly StoredTable[]
  /** Migrations are history: each is written out, and must not follow from today's descriptions of tables. */
  readonly migrations: Migrations
  readonly examine?: Examine
}

export interface Schema extends Pick<Stored, 'tables' | 'migrations'> {
  readonly sealed: readonly SealedColumn[]
  readonly examinations: readonly Examine[]
}

/** Composes a schema: all tables, owners before the tables that refer to them, and all migrations in the order of their names. */
export function schemaOf(stored: readonly Stored[]): Schema {
  const tables = inOrder(stored.flatMap(({ tables }) => tables))
  const migrations = stored.flatMap(({ migrations }) => Object.entries(migrations))
  const sealed = tables.flatMap(({ table, sealed = {} }) =>
    Object.entries(sealed).map(([column, context]) => ({ table, column, context })),
  )
  return {
    tables,
    migrations: Object.fromEntries(migrations.sort(([a], [b]) => (a < b ? -1 : 1))),
    sealed,
    examinations: stored.flatMap(({ examine }) => examine ?? []),
  }
}

export function copiedTables({ tables }: Schema): readonly Table<unknown>[] {
  return tables.filter(({ isCopied = true }) => isCopied).map(({ table }) => table)
}

function inOrder(tables: readonly StoredTable[]): readonly StoredTable[] {
  const ordered = new Set<StoredTable>()
  function add(stored: StoredTable): void {
    const { table, owners = {}, refersTo = [] } = stored
    for (const owner of [...Object.values(owners), ...refersTo]) {
      const other = tables.find(({ table }) => table === owner)
      if (!other) throw new Error(`the table ${table.name} refers to ${owner.name}, which no feature stores`)
      if (other !== stored && !ordered.has(other)) add(other)
    }
    ordered.add(stored)
  }
  for (const table of tables) add(table)
  return [...ordered]
}
