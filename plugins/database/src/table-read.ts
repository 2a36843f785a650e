/** The result of one look at a table, in the form that all databases share. */
import {
  type CheckContext,
  DestinationError,
  type Instant,
  type QueryAnswer,
  type Static,
  type TSchema,
  Value,
} from '@claimcheck/core/plugin'
import type { Options } from './connection.ts'
import type { Kind } from './forms.ts'
import type { Params } from './profile.ts'

/** The table and the key of a claim. */
export interface Asked {
  /** The table with its schema, as the catalogue writes them. */
  readonly table: string
  readonly key: Params['key']
  /** The columns to read: those of the key and the claimed ones, each once. */
  readonly columns: readonly string[]
}

export interface FoundRow {
  /** Tells whether the row has the very key: a database calls other texts equal, too. */
  readonly isExact: boolean
  readonly values: ReadonlyMap<string, string | null>
  /** The number of the transaction that wrote the row; undefined where the database does not tell it. */
  readonly version?: string | undefined
  /** The time by which that transaction was committed, by the database's clock. */
  readonly committedAt?: Instant | undefined
}

export interface TableRead {
  /** The rows that the database finds by the key, up to `MOST_FOUND`. */
  readonly rows: readonly FoundRow[]
  readonly kinds: ReadonlyMap<string, Kind>
  /** Tells whether the database compares the claimed key as it is meant, so that no row means that there is none. */
  readonly isComparable: boolean
  /** Tells whether a policy may hide rows from the account. */
  readonly hidesRows: boolean
  /** Set where the database is, or may be, a copy of another one. */
  readonly copy?: { readonly lagMs?: number | undefined } | undefined
  readonly tableId?: string | undefined
  readonly identity?: string | undefined
  /** The database's clock. */
  readonly now: Instant
}

/** The rows with an equal key that are read, to find the one that has the very key. */
export const MOST_FOUND = 5

export type Reader = Pick<CheckContext, 'query' | 'cache'>

/** Reads a table once. @throws DestinationError */
export type ReadTable = (options: Options, asked: Asked, context: Reader) => Promise<TableRead>

/** A row by the names of its columns. */
export type NamedRow = ReadonlyMap<string, string | null>

/** Names the values of rows. @throws DestinationError `unexpected_response` for none: the table was dropped since the host looked at the catalogue */
export function namedRows({ columns, rows }: QueryAnswer): {
  readonly place: NamedRow
  readonly all: readonly NamedRow[]
} {
  const all = rows.map((row) => new Map(columns.map((name, index) => [name, row[index] ?? null])))
  const [place] = all
  if (!place) throw new DestinationError('unexpected_response')
  return { place, all }
}

/** Reads the types of columns, which a statement gives as a JSON object. @throws DestinationError `unexpected_response` */
export function readTypes<T extends TSchema>(text: string | null | undefined, schema: T): Map<string, Static<T>> {
  try {
    const entries = Object.entries(JSON.parse(text ?? '{}') as object)
    if (entries.every(([, type]) => Value.Check(schema, type))) return new Map(entries as [string, Static<T>][])
  } catch {}
  throw new DestinationError('unexpected_response')
}
