/**
 * The drivers of SQLite: the package sqlite3, where it is installed and works on the machine, and Node's own `node:sqlite` where it does not. The
 * package has no maintainer any more, and Node.js 20 has nothing else.
 */
import { createRequire, isBuiltin } from 'node:module'
import type { SqliteModule } from './node-sqlite.ts'
import { StorageError } from './storage.ts'

/** Names of the drivers, in the order in which they are tried. */
export const SQLITE_DRIVERS = ['sqlite3', 'node:sqlite'] as const
export type SqliteDriverName = (typeof SQLITE_DRIVERS)[number]

export interface SqliteDriver {
  readonly name: SqliteDriverName
  readonly module: SqliteModule
}

const WAYS =
  'SQLite needs a driver: run this with a newer Node.js (22.23, 24.21 and 26 have a good one built in); or install the package sqlite3 (npm install sqlite3, ' +
  'for which python3, make and g++ must be there); or set DATABASE_URL to a Postgres database'

/**
 * The oldest usable version of SQLite. Older ones can damage a write-ahead log that two connections write (https://www.sqlite.org/wal.html), and lack
 * `jsonb_each`.
 */
const OLDEST_SQLITE = '3.51.3'

const LOAD: Readonly<Record<SqliteDriverName, () => Promise<SqliteModule>>> = {
  sqlite3: async () => createRequire(import.meta.url)('sqlite3'),
  'node:sqlite': async () => {
    const problem = nodeSqliteProblem(process.versions, isBuiltin('node:sqlite'))
    if (problem !== undefined) throw new Error(problem)
    return (await import('./node-sqlite.ts')).nodeSqlite
  },
}

/**
 * Loads the first driver that works.
 * @param names the drivers to try
 * @throws StorageError `no_driver`
 */
export async function loadSqliteDriver(names: readonly SqliteDriverName[] = SQLITE_DRIVERS): Promise<SqliteDriver> {
  const problems: string[] = []
  for (const name of names) {
    try {
      return { name, module: await LOAD[name]() }
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message.split('\n')[0]}`)
    }
  }
  throw new StorageError('no_driver', `${WAYS}. What was tried: ${problems.join('; ')}`)
}

/** Says why a version of Node.js cannot serve as a driver; undefined where it can. */
export function nodeSqliteProblem(
  { node, sqlite }: { readonly node: string; readonly sqlite?: string },
  isThere: boolean,
): string | undefined {
  if (!isThere || sqlite === undefined) return `Node.js ${node} does not have it`
  const [found, needed] = [sqlite, OLDEST_SQLITE].map((version) =>
    version.split('.').reduce((number, part) => number * 1000 + Number(part), 0),
  )
  return found! < needed! ? `Node.js ${node} has SQLite ${sqlite}, and ${OLDEST_SQLITE} is needed` : undefined
}
