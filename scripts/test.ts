/** `npm test`: every test on SQLite, then those of the whole service again on PostgreSQL. Arguments choose among the files. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Dialect } from '../test/support/database.ts'
import { startPostgres } from '../test/support/postgres.ts'

/** What a database must not change. */
const ON_BOTH = ['build/test/api', 'build/test/cli.test.js', 'build/test/crash', 'build/server/test/storage']

const chosen = process.argv.slice(2)
const chosenOnBoth = chosen.filter((file) => ON_BOTH.some((path) => file.startsWith(path)))

const postgres = await startPostgres()
try {
  const first = await tap('sqlite', chosen)
  const second = chosen.length === 0 || chosenOnBoth.length > 0
  const results = [first, second ? await tap('postgres', chosen.length === 0 ? ON_BOTH : chosenOnBoth) : 0]
  process.exitCode = results.find((code) => code !== 0) ?? 0
} finally {
  await postgres.remove()
}

/** @returns its exit code */
async function tap(database: Dialect, files: readonly string[]): Promise<number> {
  console.log(`# ${files.join(' ') || 'everything'}, on ${database}`)
  const child = spawn(process.execPath, [resolve('node_modules/.bin/tap'), '--reporter=tap', ...files], {
    env: { ...process.env, TEST_DATABASE: database, TEST_POSTGRES_URL: postgres.url },
    stdio: 'inherit',
  })
  // The terminal's Ctrl-C reaches tap by itself. Both are waited for: its tests still use the database.
  const pass = (signal: NodeJS.Signals) => signal === 'SIGTERM' && child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, pass)
  const [code] = await once(child, 'exit')
  for (const signal of signals) process.off(signal, pass)
  return code ?? 1
}
