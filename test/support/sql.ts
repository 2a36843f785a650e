/** SQL past the service, on either database: to look at what is really stored, and to damage it. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import pg from 'pg'

export type Row = Readonly<Record<string, unknown>>

/** @param url as in DATABASE_URL, with an absolute path */
export function query(url: string, sql: string): Promise<Row[]> {
  return url.startsWith('sqlite:') ? querySqlite(url.slice('sqlite:'.length), sql) : queryPostgres(url, sql)
}

/** Everything that the database holds, as text in which what was stored in clear is found. */
export async function dump(url: string): Promise<string> {
  if (url.startsWith('sqlite:')) return readFile(url.slice('sqlite:'.length), 'latin1')
  const tables = await queryPostgres(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
  const rows = await Promise.all(
    tables.map(({ tablename }) => queryPostgres(url, `SELECT t::text FROM ${tablename} t`)),
  )
  return JSON.stringify(rows)
}

async function queryPostgres(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function querySqlite(file: string, sql: string): Promise<Row[]> {
  const sqlite3 = createRequire(resolve('server/package.json'))('sqlite3')
  const database = new sqlite3.Database(file)
  try {
    return await new Promise((done, fail) => {
      database.all(sql, (error: Error | null, rows: Row[]) => (error ? fail(error) : done(rows)))
    })
  } finally {
    await new Promise((done) => database.close(done))
  }
}
