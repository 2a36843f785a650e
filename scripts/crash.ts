/** `npm run crash`: hosts under load are killed with SIGKILL again and again, and nothing may be lost or done twice. `.ci/run` runs a short form. */

import { SQLITE_DRIVERS, type SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import { runOutageTest } from '../test/crash/outage.ts'
import { type CrashOptions, runCrashTest } from '../test/crash/run.ts'
import { type Dialect, whyMissing } from '../test/support/database.ts'
import { commitSeed } from './commit-seed.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run crash -- [options]

Kill hosts under load at random moments, and look for work that was lost or done twice.

Options:
  --seconds N      seconds on each database (default: 120)
  --database NAME  sqlite, postgres or both (default: both)
  --driver NAME    driver of SQLite: sqlite3, node:sqlite or both (default: both)
  --hosts N        hosts on PostgreSQL (default: 3)
  --outage N       seconds without PostgreSQL, 0 for none (default: 20)
  --seed N         seed of the random choices (default: from the commit)
  --help           print this help`
const DIALECTS: Readonly<Record<string, readonly Dialect[]>> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
}
const DRIVERS: Readonly<Record<string, readonly SqliteDriverName[]>> = {
  sqlite3: ['sqlite3'],
  'node:sqlite': ['node:sqlite'],
  both: SQLITE_DRIVERS,
}
/** The least number of kills: with fewer there was nothing to lose. How many there are is up to chance and to the machine. */
const LEAST_KILLS = 2
const LEAST_ACKNOWLEDGED = 3

const values = readOptions(USAGE, {
  seconds: { type: 'string', default: '120' },
  database: { type: 'string', default: 'both' },
  driver: { type: 'string', default: 'both' },
  hosts: { type: 'string', default: '3' },
  outage: { type: 'string', default: '20' },
  seed: { type: 'string', default: String(commitSeed()) },
})
const numbers = [values.seconds, values.hosts, values.outage, values.seed].map(Number)
const [seconds, hosts, outageSeconds, seed] = numbers as [number, number, number, number]
const dialects = DIALECTS[values.database]
const drivers = DRIVERS[values.driver]
if (!dialects || !drivers || !(seconds > 0) || !(hosts >= 1) || !(outageSeconds >= 0) || !(seed >= 0)) {
  console.error(USAGE)
  process.exit(2)
}

if (dialects.includes('sqlite')) {
  for (const driver of drivers) {
    const missing = await whyMissing(driver)
    if (missing) console.log(`SQLite by ${driver}: skipped. ${missing}`)
    else await crash(`SQLite by ${driver}: 1 host`, { dialect: 'sqlite', sqliteDriver: driver, hosts: 1 })
  }
}
if (dialects.includes('postgres')) await crash(`postgres: ${hosts} hosts`, { dialect: 'postgres', hosts })
if (dialects.includes('postgres') && outageSeconds > 0) {
  console.log(`postgres: crashed, and away for ${outageSeconds} s`)
  const report = await runOutageTest({ mode: 'immediate', seconds: outageSeconds, hosts, seed })
  const { refusals, recoveryMs, acknowledgedBefore, acknowledgedAfter, problems } = report
  const taken = `${acknowledgedBefore} claims acknowledged before, ${acknowledgedAfter - acknowledgedBefore} after`
  console.log(`  ${refusals} requests told to come back; recovery within ${recoveryMs} ms; ${taken}`)
  conclude(problems)
}

async function crash(name: string, subject: Pick<CrashOptions, 'dialect' | 'sqliteDriver' | 'hosts'>): Promise<void> {
  console.log(`${name}, ${seconds} s, seed ${seed}`)
  const report = await runCrashTest({ ...subject, seconds, seed })
  const { kills, acknowledged, claims, receipts, heads, problems } = report
  console.log(
    `  ${kills} kills; ${acknowledged} claims acknowledged of ${claims}; ${receipts} receipts; ${heads} heads`,
  )
  const isIdle = kills < LEAST_KILLS || acknowledged < LEAST_ACKNOWLEDGED
  conclude(isIdle ? [...problems, 'there was nothing to lose'] : problems)
}

function conclude(problems: readonly string[]): void {
  for (const problem of problems) console.log(`  ${problem}`)
  console.log(problems.length === 0 ? '  nothing lost, nothing twice' : `  ${problems.length} problems`)
  if (problems.length > 0) process.exitCode = 1
}
