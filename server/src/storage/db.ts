/** The interface of a database for repositories: rows for SQL. */
import type { Knex } from 'knex'
import type { Dialect } from './dialect.ts'

/** A row as the database returns it, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

export type Binding = string | number | Uint8Array | null

export interface QueryOptions {
  /** True to plan the statement for each call: the right index depends on how many rows there are, which a plan from an empty table does not know. */
  readonly replanned?: boolean
}

/** A database outside of transactions, or within one. */
export interface Db {
  readonly dialect: Dialect
  /**
   * Returns the rows of one statement, in which `?` marks each binding. Each connection prepares a text once, so there must be few texts: a list is
   * one binding.
   * @throws StorageError `unavailable`
   */
  query(sql: string, bindings?: readonly Binding[], options?: QueryOptions): Promise<Row[]>
  /** Returns knex's builder for a table, for statements whose speed does not matter. */
  table(name: string): Knex.QueryBuilder
}

/** Runs statements one after the other; the list is empty where a dialect needs none. */
export async function runAll(db: Db, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await db.query(sql)
}
