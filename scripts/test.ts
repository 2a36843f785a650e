/** `npm test`: every test on SQLite, and those of the whole service on PostgreSQL as well. Arguments choose among the files. */
import { readdirSync, readFileSync } from 'node:fs'
import { createTemplate, type Dialect } from '../test/support/database.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { runFiles, type TestFile } from './test-files.ts'

/** Of the console, what finds, counts, sorts and races; the rest shows it. */
const CONSOLE = [
  'claims',
  'sign-in',
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
  ...['anchors/published.test.js', 'api/', 'cli.test.js', 'crash/'].map((path) => `build/test/${path}`),
  ...CONSOLE.map((name) => `build/test/console/${name}.test.js`),
]
/** Many small ones, which share processes. */
const SMALL = ['build/core/', 'build/plugins/', 'build/server/', 'build/test/console/']
const MOST_TOGETHER = 12
/** Prepares something for all of its tests, which is for them alone. */
const PREPARES = /^(const .* = await |await |t\.(before|after|teardown|jobs))/m
/** More would be no faster on two processors, and tests that are about moments would miss theirs. */
const JOBS = 2
const LONGEST_MS = 300_000

const chosen = process.argv.slice(2)

// No test takes the machine's power away.
const postgres = await startPostgres({ fsync: false })
try {
  const template = await createTemplate(postgres.url)
  const common = { ...process.env, TEST_POSTGRES_URL: postgres.url, TEST_POSTGRES_TEMPLATE: template }

  /** Together where they can be, on one database. */
  function on(database: Dialect, paths: readonly string[]): TestFile[] {
    const env = { ...common, TEST_DATABASE: database }
    const isTogether = (path: string) => chosen.length === 0 && isSmall(path)
    const groups = batches(paths.filter(isTogether), MOST_TOGETHER).map((group, index) => ({
      name: `${group.join(' ')} on ${database}`,
      args: ['build/scripts/test-group.js', `${database}-${index}`],
      env: { ...env, TEST_FILES: group.join(' ') },
    }))
    const others = paths.filter((path) => !isTogether(path))
    return [...others.map((path) => ({ name: `${path} on ${database}`, args: [path, database], env })), ...groups]
  }

  const paths = chosen.length === 0 ? testFiles() : chosen
  const again = paths.filter((path) => ON_BOTH.some((start) => path.startsWith(start)))
  const files = [...on('postgres', again), ...on('sqlite', paths)]
  if (!(await runFiles(files, { jobs: JOBS, timeoutMs: LONGEST_MS }))) process.exitCode = 1
} finally {
  await postgres.remove()
}

function testFiles(): string[] {
  const found = readdirSync('build', { recursive: true, encoding: 'utf8' })
  return found.filter((file) => file.endsWith('.test.js')).map((file) => `build/${file}`)
}

function isSmall(path: string): boolean {
  return SMALL.some((start) => path.startsWith(start)) && !PREPARES.test(readFileSync(path, 'utf8'))
}

function batches<T>(items: readonly T[], most: number): T[][] {
  const count = Math.ceil(items.length / most)
  return Array.from({ length: count }, (_, batch) => items.filter((_, index) => index % count === batch))
}
