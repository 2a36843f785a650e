/** A database of its own for each installation, in the dialect that the test run is about. */
import { randomBytes } from 'node:crypto'
import { sharedPostgresUrl } from './postgres.ts'
import { query } from './sql.ts'

export type Dialect = 'sqlite' | 'postgres'

export interface Database {
  readonly dialect: Dialect
  /** What configures a host to use it. */
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** `npm test` runs the black-box tests once with each. */
export const TEST_DATABASE = readDialect(process.env.TEST_DATABASE)

function readDialect(text = 'sqlite'): Dialect {
  if (text === 'sqlite' || text === 'postgres') return text
  throw new Error(`TEST_DATABASE: sqlite or postgres, not ${text}`)
}

/** @param serverUrl of a PostgreSQL server other than the one that tests share */
export async function createDatabase(dialect: Dialect = TEST_DATABASE, serverUrl?: string): Promise<Database> {
  if (dialect === 'sqlite') return SQLITE
  const server = serverUrl ?? (await sharedPostgresUrl())
  const name = `claimcheck_${randomBytes(8).toString('hex')}`
  await query(server, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(server)
  url.pathname = name
  return {
    dialect,
    // The private signing keys are in the database, under this one.
    env: { DATABASE_URL: url.href, SECRET_KEY: randomBytes(32).toString('hex') },
    remove: async () => {
      await query(server, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/** A file in the installation's folder, which is removed with that. */
const SQLITE: Database = { dialect: 'sqlite', env: {}, remove: async () => {} }
