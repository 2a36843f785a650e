/** Every row of one database into another, empty one, whatever their dialects. The source is read as it is at one moment. */
import { existsSync } from 'node:fs'
import type { Knex } from 'knex'
import { isPostgresUrl, sqliteFile } from '../config/database-url.ts'
import type { Db, Dialect } from './db.ts'
import { migrate, requireThisSchema } from './migrate.ts'
import { BOOKKEEPING, TABLES } from './migrations/tables.ts'
import { openStorage } from './open.ts'
import type { OpenedStorage } from './pools.ts'
import { type Cell, type Cells, type Columns, type ColumnType, insertRows, names } from './rows.ts'
import { StorageError } from './storage.ts'

/** How many rows of each table. */
export type Copied = Readonly<Record<string, number>>

export type CopyProgress = (rows: number, allRows: number) => void

interface Place {
  readonly databaseUrl: string
}

/** Bounds memory: the largest rows hold some 10 KB. */
const ROWS_PER_PAGE = 1000

/** Opens a database that is there, of this version, and leaves it as it is. @throws StorageError */
export function openSource({ databaseUrl }: Place): Promise<OpenedStorage> {
  const file = sqliteFile(databaseUrl)
  if (file !== undefined && !existsSync(file)) throw new StorageError('unavailable', `there is no database ${file}`)
  return openStorage({ databaseUrl }, { prepareSchema: requireThisSchema, patient: true })
}

/** Opens a database without a row, and brings it to this version's schema. @throws StorageError `not_empty` */
export function openTarget({ databaseUrl }: Place): Promise<OpenedStorage> {
  const prepareSchema = async (db: Knex) => {
    await refuseRows(isPostgresUrl(databaseUrl) ? 'postgres' : 'sqlite', (name) => db(name))
    return migrate(db)
  }
  return openStorage({ databaseUrl }, { prepareSchema, patient: true })
}

/** @throws StorageError `not_empty` when somebody has written to the target since it was opened */
export async function copyRows(from: Db, to: Db, onProgress: CopyProgress = () => {}): Promise<Copied> {
  await stayIdle(to)
  // Held until the end: nobody begins another installation meanwhile.
  if (to.dialect === 'postgres') await to.query(`LOCK TABLE ${Object.keys(TABLES).join(', ')} IN EXCLUSIVE MODE`)
  await refuseRows(to.dialect, to.table)
  const counts = new Map<string, number>()
  for (const table of Object.keys(TABLES)) counts.set(table, await count(from, table))
  const all = [...counts.values()].reduce((sum, rows) => sum + rows, 0)
  let done = 0
  for (const [table, key] of Object.entries(TABLES)) {
    const columns = await columnsOf(from, table)
    for await (const rows of pages(from, table, columns, key)) {
      await insertRows(to, table, columns, rows).catch(explainRefusal(table))
      done += rows.length
      onProgress(done, all)
    }
  }
  // Otherwise the first queries are planned for empty tables.
  if (to.dialect === 'postgres') await to.query(`ANALYZE ${Object.keys(TABLES).join(', ')}`)
  return Object.fromEntries(counts)
}

/** Values out of range, and constraints: what no other attempt changes. */
const REFUSED_ROWS = /^(22|23|SQLITE_CONSTRAINT)/

function explainRefusal(table: string) {
  return (cause: unknown): never => {
    if (!REFUSED_ROWS.test(String((cause as { code?: unknown }).code))) throw cause
    const reason = (cause as Error).message
    const message = `the source is not sound, and nothing was copied: rows of ${table} are refused (${reason}); claimcheck doctor tells more`
    throw new StorageError('corrupt', message, { cause })
  }
}

/** A transaction that waits for the other database is not one that somebody forgot. */
/** However long the other database takes meanwhile. */
export async function stayIdle(db: Db): Promise<void> {
  if (db.dialect === 'postgres') await db.query('SET LOCAL idle_in_transaction_session_timeout = 0')
}

/** The next rows in the key's order, again and again. */
async function* pages(db: Db, table: string, columns: Columns, key: readonly string[]): AsyncGenerator<Cells[]> {
  const list = names(columns)
  const order = key.join(', ')
  const first = `SELECT ${list} FROM ${table} ORDER BY ${order} LIMIT ?`
  const next = `SELECT ${list} FROM ${table} WHERE (${order}) > (${key.map(() => '?').join(', ')}) ORDER BY ${order} LIMIT ?`
  let rows = await db.query(first, [ROWS_PER_PAGE])
  while (rows.length > 0) {
    yield rows.map((row) => Object.keys(columns).map((name) => row[name] as Cell))
    const last = rows.at(-1)!
    rows = await db.query(next, [...key.map((name) => last[name] as string | number), ROWS_PER_PAGE])
  }
}

async function count(db: Db, table: string): Promise<number> {
  const [row] = await db.query(`SELECT COUNT(*) AS rows FROM ${table}`)
  return Number(row!.rows)
}

/** As the databases call the types that the migrations use. */
const COLUMN_TYPES: Readonly<Record<string, ColumnType>> = {
  text: 'text',
  integer: 'integer',
  bigint: 'bigint',
  blob: 'bytes',
  bytea: 'bytes',
}

async function columnsOf(db: Db, table: string): Promise<Columns> {
  const found: Record<string, Knex.ColumnInfo> = await db.table(table).columnInfo()
  return Object.fromEntries(
    Object.entries(found).map(([name, { type }]) => {
      const known = COLUMN_TYPES[type]
      if (!known) throw new TypeError(`a column of type ${type} cannot be copied: ${table}.${name}`)
      return [name, known]
    }),
  )
}

/** Whatever table it is, also of somebody else. */
async function refuseRows(dialect: Dialect, table: (name: string) => Knex.QueryBuilder): Promise<void> {
  for (const name of await tableNames(dialect, table)) {
    if (BOOKKEEPING.includes(name) || !(await table(name).first())) continue
    throw new StorageError('not_empty', `the target is not empty: there are rows in its table ${name}`)
  }
}

function tableNames(dialect: Dialect, table: (name: string) => Knex.QueryBuilder): Promise<string[]> {
  return dialect === 'postgres'
    ? table('pg_tables').whereRaw('schemaname = current_schema()').pluck('tablename')
    : table('sqlite_master').where({ type: 'table' }).whereNot('name', 'like', 'sqlite_%').pluck('name')
}
