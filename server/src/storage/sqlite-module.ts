/** The interface of a driver of SQLite: the part of the package sqlite3 that this service and knex use. */
import type { Binding, Row } from './db.ts'

export interface SqliteModule {
  readonly Database: new (file: string, flags: number, done: Done) => Connection
  readonly OPEN_READWRITE: number
  readonly OPEN_CREATE: number
  /** The flag with which the name of a file may be a URI. */
  readonly OPEN_URI: number
}

export interface Connection {
  prepare(sql: string): Statement
  exec(sql: string, done: Done): void
  close(done: Done): void
}

export interface Statement {
  all(bindings: readonly Binding[], done: (error: Error | null, rows: Row[]) => void): void
  finalize(): void
}

export type Done = (error: Error | null) => void
