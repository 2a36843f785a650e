/** `npm test`: every test on SQLite, then those of the whole service again on PostgreSQL. Arguments choose among the files. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Dialect } from '../test/support/database.ts'
import { startPostgres } from '../test/support/postgres.ts'

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
const STOPPING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

const chosen = process.argv.slice(2)
const again = (chosen.length === 0 ? testFiles() : chosen).filter((file) =>
  ON_BOTH.some((path) => file.startsWith(path)),
)

// No test takes the machine's power away.
const postgres = await startPostgres({ fsync: false })
try {
  const passed = await passes('sqlite', chosen)
  const passedAgain = again.length === 0 || (passed !== undefined && (await passes('postgres', again)))
  if (!passed || !passedAgain) process.exitCode = 1
} finally {
  await postgres.remove()
}

// tap takes every file of a folder that it is given for a test.
function testFiles(): string[] {
  const files = readdirSync('build', { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.test.js')).map((file) => `build/${file}`)
}

/** Undefined when it was interrupted. */
async function passes(database: Dialect, files: readonly string[]): Promise<boolean | undefined> {
  console.log(`# ${files.join(' ') || 'everything'}, on ${database}`)
  const tap = spawn(process.execPath, [resolve('node_modules/.bin/tap'), '--reporter=tap', ...files], {
    env: { ...process.env, TEST_DATABASE: database, TEST_POSTGRES_URL: postgres.url },
    stdio: 'inherit',
    // In a group with its tests, which end with it.
    detached: true,
  })
  const passOn = (signal: NodeJS.Signals) => process.kill(-tap.pid!, signal)
  for (const signal of STOPPING) process.on(signal, passOn)
  const [code] = await once(tap, 'exit')
  for (const signal of STOPPING) process.off(signal, passOn)
  return code === null ? undefined : code === 0
}
