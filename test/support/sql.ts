/** SQL past the service, on either database: to look at what is really stored, and to damage it. */
import { readFile } from 'node:fs/promises'
import { clientOf } from '@claimcheck/server/storage/sqlite'
import { loadSqliteDriver, type SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import knex, { type Knex } from 'knex'
import pg from 'pg'

export type Row = Readonly<Record<string, unknown>>

/** @param url as in DATABASE_URL, with an absolute path */
export async function query(url: string, sql: string): Promise<Row[]> {
  const db = await openQuerying(url)
  try {
    return await db.query(sql)
  } finally {
    await db.close()
  }
}

/** One connection for many queries. */
export interface Querying {
  readonly query: (sql: string) => Promise<Row[]>
  readonly close: () => Promise<void>
}

/** @param url as in DATABASE_URL, with an absolute path */
export async function openQuerying(url: string): Promise<Querying> {
  if (url.startsWith('sqlite:')) {
    const db = await knexOn(url.slice('sqlite:'.length))
    return { query: (sql) => db.raw(sql), close: () => db.destroy() }
  }
  const client = new pg.Client(url)
  await client.connect()
  return { query: async (sql) => (await client.query(sql)).rows, close: () => client.end() }
}

/** Everything that the database holds, as text in which what was stored in clear is found. */
export async function dump(url: string): Promise<string> {
  if (url.startsWith('sqlite:')) return dumpSqlite(url.slice('sqlite:'.length))
  const tables = await query(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
  const rows = await Promise.all(tables.map(({ tablename }) => query(url, `SELECT t::text FROM ${tablename} t`)))
  return JSON.stringify(rows)
}

/**
 * The write-ahead log first: what is written back meanwhile is in both. Of two connections that end at the same moment, neither writes it back.
 */
async function dumpSqlite(file: string): Promise<string> {
  const log = await readFile(`${file}-wal`, 'latin1').catch(() => '')
  return log + (await readFile(file, 'latin1'))
}

/** All rows of all tables, each table with its rows in the order of their text. */
export async function rows(url: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = await query(
    url,
    url.startsWith('sqlite:')
      ? `SELECT name FROM sqlite_master WHERE type = 'table'`
      : `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  )
  const all = tables.map(async ({ name }) => {
    const found = await query(url, `SELECT * FROM "${name}"`)
    return [String(name), found.map((row) => JSON.stringify(row)).sort()] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

/** @param file of SQLite. @param driver without it, the first that loads */
export async function knexOn(file: string, driver?: SqliteDriverName): Promise<Knex> {
  const client = clientOf(await loadSqliteDriver(driver && [driver]))
  return knex({ client, connection: { filename: file }, useNullAsDefault: true })
}
