/** What a repository needs of a database: rows for SQL. The dialects stand behind this. */
import type { Knex } from 'knex'

export type Dialect = 'sqlite' | 'postgres'

export type Row = Readonly<Record<string, unknown>>

export type Binding = string | number | null

export interface QueryOptions {
  /** Planned for each call: which index is the right one follows from how many rows there are, and a plan from an empty table cannot know. */
  readonly replanned?: boolean
}

/** A database outside of transactions, or within one. */
export interface Db {
  readonly dialect: Dialect
  /**
   * The rows of one statement, whose `?` stand for the bindings. A text is prepared once a connection, so that texts must be few:
   * lists go in as one binding.
   * @throws StorageError `unavailable`
   */
  query(sql: string, bindings?: readonly Binding[], options?: QueryOptions): Promise<Row[]>
  /** knex's builder for a table, where speed is nothing. */
  table(name: string): Knex.QueryBuilder
}
