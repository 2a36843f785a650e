/** Everything in which databases differ. One file implements it for each database; `open.ts` chooses by the scheme of the URL. */
import type { Knex } from 'knex'

/** The type of a column; a `bigint` is a safe integer. */
export type ColumnType = 'text' | 'integer' | 'bigint' | 'bytes'

/** SQL expressions within statements. */
export interface Expressions {
  /** Makes the expression for the bytes of a text in hex. */
  bytes(hex: string): string
  /** Makes a table of the elements of a bound JSON array, each in the column `value`. */
  unfold(binding: string): string
  /** Makes a column of this type from an element of `value`, which is an array itself. */
  cell(index: number, type: ColumnType): string
  /** Makes a column like `cell` from an element that says where its value is in bound bytes: a `Slice`. */
  slice(bytes: string, index: number, type: ColumnType): string
  /** The texts of a bound JSON array, in a form that a column can be IN. */
  readonly texts: string
  /** Makes the condition that the JSON array of texts in a column has this one; not true for null. */
  includes(column: string, text: string): string
  /**
   * Makes the condition that a column is LIKE the bound pattern: the letters of ASCII match in either case, no others do. After `\` a wildcard means
   * itself.
   */
  matches(column: string): string
  /** The function that makes a JSON array of its arguments, null included. */
  readonly jsonArray: string
  /** The aggregate that makes a JSON array of JSON values, in any order. */
  readonly jsonGroup: string
  /** The database's clock: milliseconds since the Unix epoch, with fractions, as the statement runs, not as its transaction began. */
  readonly clock: string
  /**
   * Identifies the running server and database: the text is another one after the server was restarted, replaced by a standby, or restored, and in a
   * database that was made from a dump. Undefined where one host has the file, and looks at that.
   */
  readonly answersAs: string | undefined
}

export interface Dialect extends Expressions {
  /** Begins a transaction that writes. */
  readonly begin: string
  /** Begins a transaction that reads everything as it is at one moment. */
  readonly beginSnapshot: string
  /** Ends a SELECT that locks its rows until the transaction ends. */
  readonly forUpdate: string
  /**
   * Ends a SELECT like `forUpdate`, for rows that others refer to, and that are never deleted: a row that refers to them may be inserted meanwhile.
   * Otherwise a transaction that holds a user and waits for a workspace, and one that holds the workspace and inserts a reference to the user, would
   * wait for each other.
   */
  readonly forChange: string
  /** Ends a SELECT like `forUpdate`, passing over rows that another transaction holds. */
  readonly forUpdateSkipLocked: string
  /** Statements that keep other transactions from writing to the tables until this one ends. */
  lockTables(tables: readonly string[]): readonly string[]
  /** Statements that let this transaction stay idle for as long as it waits for something else. */
  readonly allowIdle: readonly string[]
  /** Statements that have queries planned for the rows that the tables hold now. */
  analyze(tables: readonly string[]): readonly string[]
  /** One statement that makes all changes of `changes.ts` or none, and binds its PARAMETERS. */
  readonly changesStatement: string
  /** The statements of `Storage.forgetDeleted`. A row with `busy` says whether it failed. */
  readonly forgetDeleted: readonly string[]
  /** The statements of `Storage.rewrite` for these tables, each of which is a transaction by itself. */
  rewrite(tables: readonly string[]): readonly string[]
  /** Lists the names of all tables, also of those that are not the service's. */
  tableNames(table: (name: string) => Knex.QueryBuilder): Promise<string[]>
  indexAndTriggerNames(table: (name: string) => Knex.QueryBuilder): Promise<string[]>
  /** Tells whether an error means that the database cannot be used now: not reached, full, read-only, interrupted. */
  isUnavailable(error: unknown): boolean
  /** Tells whether an unavailable database may return by itself, or with room on the disk: worth another try by a host that starts. */
  mayReturn(error: unknown): boolean
  /** Reasons that the database cannot be used, by the code of its error. They name no address and no path: they are public. */
  readonly reasons: Readonly<Record<string, string>>
  /** Tells whether an error is about values out of range, or constraints: the rows are at fault, so that trying again does not help. */
  refusesRows(error: unknown): boolean
  readonly migrations: MigrationStatements
  /** Statements for hosts that share the database; undefined where one host has it to itself. */
  readonly shared: SharedStatements | undefined
}

/** Statements for migrations. Migrations are history: what they use from here must not change its meaning. */
export interface MigrationStatements {
  /** Statements that keep other processes from migrating until the transaction ends. */
  readonly lock: readonly string[]
  /** Statements that lock these tables, one after the other, until the transaction ends. */
  takeTables(tables: readonly string[]): readonly string[]
  /** Statements after which every change and deletion of a row of this table fails. */
  appendOnly(table: string): readonly string[]
  /** Statements after which no row of this table changes, and only rows below the number in the head's row can be deleted. */
  keepFrom(table: string, number: string, head: string, first: string): readonly string[]
  /**
   * Makes statements for an append-only table after which its rows may be changed, or deleted, where the condition is true of OLD, and with an UPDATE
   * of NEW.
   */
  allowErasure(table: string, change: 'UPDATE' | 'DELETE', condition: string): readonly string[]
  /** Statements after which these columns are compared byte by byte. */
  compareBytes(table: string, columns: readonly string[]): readonly string[]
}

/** Statements for hosts that share a database. */
export interface SharedStatements {
  /** Selects the `system` that the server's data began as, and its timeline, which each promotion changes. Managed servers may refuse it. */
  readonly system: string
  /** Selects the settings that decide whether a commit outlives the machine, and the server: `DurabilityRow`. */
  readonly durability: string
  /** Begins the statement that makes a table which a crash may empty. */
  readonly createUnlogged: string
  /** Deletes at most `?` of the rows that meet the condition, passing over those that another transaction holds. Returns a row for each. */
  deleteSome(table: string, condition: string): string
}
