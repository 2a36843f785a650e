/** A new database for each installation, in the dialect of the test run. */
import { randomBytes } from 'node:crypto'
import { openStorage } from '@claimcheck/server/storage/open'
import { sharedPostgresUrl } from './postgres.ts'
import { query } from './sql.ts'

export type Dialect = 'sqlite' | 'postgres'

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

/** Makes the database that others are copied from, which takes a third of the time that migrations take. */
export async function createTemplate(serverUrl: string): Promise<string> {
  const name = 'claimcheck_template'
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`)
  await (await openStorage({ databaseUrl: databaseUrl(serverUrl, name) })).close()
  return name
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = name
  return url.href
}

/** A file in the installation's folder, which is removed with that. */
const SQLITE: Database = { dialect: 'sqlite', env: {}, remove: async () => {} }
