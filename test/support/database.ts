/** A new database for each installation, in the dialect of the test run. */
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sqliteFile } from '@claimcheck/server/config/database-url'
import { loadSqliteDriver, type SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import { byExtent } from './extent.ts'
import { sharedPostgresUrl } from './postgres.ts'
import { query } from './sql.ts'
import { openStorage } from './storage.ts'

export type Dialect = 'sqlite' | 'postgres'

/** What a test runs on that chooses its databases itself: a short run on SQLite alone. */
export const DIALECTS = byExtent<readonly Dialect[]>({
  short: ['sqlite'],
  usual: ['sqlite', 'postgres'],
  thorough: ['sqlite', 'postgres'],
})

export interface Database {
  readonly dialect: Dialect
  /** The environment of a host that uses it. */
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** `npm test` runs some files once with each: `scripts/test-plan.ts`. */
export const TEST_DATABASE = readDialect(process.env.TEST_DATABASE)

function readDialect(text = 'sqlite'): Dialect {
  if (text === 'sqlite' || text === 'postgres') return text
  throw new Error(`TEST_DATABASE: sqlite or postgres, not ${text}`)
}

/** What a test of a driver of SQLite prints where it is skipped; false where it runs. */
export function whyMissing(driver: SqliteDriverName): Promise<string | false> {
  return loadSqliteDriver([driver]).then(
    () => false,
    (error: Error) => error.message,
  )
}

interface DatabaseOptions {
  /** Of a PostgreSQL server other than the one that tests share. */
  readonly serverUrl?: string
  /** Without tables. Otherwise they may be there already. */
  readonly isEmpty?: boolean
}

export async function createDatabase(
  dialect: Dialect = TEST_DATABASE,
  { serverUrl, isEmpty = false }: DatabaseOptions = {},
): Promise<Database> {
  if (dialect === 'sqlite') return SQLITE
  const server = serverUrl ?? (await sharedPostgresUrl())
  const name = `claimcheck_${randomBytes(8).toString('hex')}`
  const isShared = serverUrl === undefined
  const template = (isShared && !isEmpty && process.env.TEST_POSTGRES_TEMPLATE) || 'template0'
  await query(server, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  const url = databaseUrl(server, name)
  return {
    dialect,
    // The private signing keys are in the database, under this one.
    env: { DATABASE_URL: url, SECRET_KEY: randomBytes(32).toString('hex') },
    remove: async () => {
      await query(server, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/**
 * Makes the databases that others are copied from, which takes a third of the time that migrations take, or less.
 * @returns the environment in which tests find them
 */
export async function createTemplates(serverUrl: string, folder: string): Promise<Readonly<Record<string, string>>> {
  const name = 'claimcheck_template'
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`)
  await (await openStorage({ databaseUrl: databaseUrl(serverUrl, name) })).close()
  const file = join(folder, `${name}.db`)
  await (await openStorage({ databaseUrl: `sqlite:${file}` })).close()
  return { TEST_POSTGRES_TEMPLATE: name, TEST_SQLITE_TEMPLATE: file }
}

/** Makes the file of a new SQLite database with its tables, if it is not there. A host makes it where this does not. */
export function copyTemplate(databaseUrl: string): void {
  const template = process.env.TEST_SQLITE_TEMPLATE
  const file = sqliteFile(databaseUrl)
  if (!template || !file || existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  copyFileSync(template, file)
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = name
  return url.href
}

/** A file in the installation's folder, which is removed with that. */
const SQLITE: Database = { dialect: 'sqlite', env: {}, remove: async () => {} }
