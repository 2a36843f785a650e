/** `npm test`: every test on SQLite, then those of the whole service again on PostgreSQL. Arguments choose among the files. */
import { readdirSync } from 'node:fs'
import type { Dialect } from '../test/support/database.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { runFiles } from './test-files.ts'

/** Of the console, what finds, counts, sorts and races; the rest shows it. */
const CONSOLE = [
  'claims',
  'entrance',
  'isolation',
  'keys',
  'members',
  'oauth',
  'oauth-grants',
  'oauth-hosts',
  'passkeys',
]
/** What a database must not change. */
const ON_BOTH = [
  'build/server/test/storage/',
  ...['anchors/published.test.js', 'api/', 'cli.test.js', 'crash/'].map((path) => `build/test/${path}`),
  ...CONSOLE.map((name) => `build/test/console/${name}.test.js`),
]
/** More would be no faster on two processors, and tests that are about moments would miss theirs. */
const JOBS = 2
const LONGEST_FILE_MS = 300_000

const chosen = process.argv.slice(2)
const files = chosen.length === 0 ? testFiles() : chosen
const again = files.filter((file) => ON_BOTH.some((path) => file.startsWith(path)))

// No test takes the machine's power away.
const postgres = await startPostgres({ fsync: false })
try {
  const passed = await passes('sqlite', files)
  const passedAgain = again.length === 0 || (passed !== undefined && (await passes('postgres', again)))
  if (!passed || !passedAgain) process.exitCode = 1
} finally {
  await postgres.remove()
}

function testFiles(): string[] {
  const found = readdirSync('build', { recursive: true, encoding: 'utf8' })
  return found.filter((file) => file.endsWith('.test.js')).map((file) => `build/${file}`)
}

/** Undefined when it was interrupted. */
function passes(database: Dialect, which: readonly string[]): Promise<boolean | undefined> {
  console.log(`# ${which.length} files, on ${database}`)
  const env = { ...process.env, TEST_DATABASE: database, TEST_POSTGRES_URL: postgres.url }
  return runFiles(which, { env, jobs: JOBS, timeoutMs: LONGEST_FILE_MS })
}
