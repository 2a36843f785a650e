/** `npm run crash`: hosts under load are killed with SIGKILL again and again, and nothing may be lost or done twice. `.ci/run` runs a short form. */
import { runOutageTest } from '../test/crash/outage.ts'
import { runCrashTest } from '../test/crash/run.ts'
import type { Dialect } from '../test/support/database.ts'
import { readOptions } from './options.ts'

const USAGE = `npm run crash -- [--seconds N, on each database] [--database sqlite|postgres|both] [--hosts N, on PostgreSQL]
    [--outage N, seconds without PostgreSQL; 0: none] [--seed N]`
const DIALECTS: Readonly<Record<string, readonly Dialect[]>> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
}
/** With fewer there was nothing to lose. How many there are is up to chance and to the machine. */
const LEAST_KILLS = 2
const LEAST_ACKNOWLEDGED = 3

const values = readOptions(USAGE, {
  seconds: { type: 'string', default: '120' },
  database: { type: 'string', default: 'both' },
  hosts: { type: 'string', default: '3' },
  outage: { type: 'string', default: '20' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
})
const numbers = [values.seconds, values.hosts, values.outage, values.seed].map(Number)
const [seconds, hosts, outageSeconds, seed] = numbers as [number, number, number, number]
const dialects = DIALECTS[values.database]
if (!dialects || !(seconds > 0) || !(hosts >= 1) || !(outageSeconds >= 0) || !(seed >= 0)) {
  console.error(USAGE)
  process.exit(2)
}

for (const dialect of dialects) {
  const count = dialect === 'postgres' ? hosts : 1
  console.log(`${dialect}: ${count} ${count === 1 ? 'host' : 'hosts'}, ${seconds} s, seed ${seed}`)
  const report = await runCrashTest({ dialect, hosts: count, seconds, seed })
  const { kills, acknowledged, claims, receipts, heads, problems } = report
  console.log(
    `  ${kills} kills; ${acknowledged} claims acknowledged of ${claims}; ${receipts} receipts; ${heads} heads`,
  )
  const isIdle = kills < LEAST_KILLS || acknowledged < LEAST_ACKNOWLEDGED
  conclude(isIdle ? [...problems, 'there was nothing to lose'] : problems)
}
if (dialects.includes('postgres') && outageSeconds > 0) {
  console.log(`postgres: crashed, and away for ${outageSeconds} s`)
  const report = await runOutageTest({ mode: 'immediate', seconds: outageSeconds, hosts, seed })
  const { refusals, recoveryMs, acknowledgedBefore, acknowledgedAfter, problems } = report
  const taken = `${acknowledgedBefore} claims acknowledged before, ${acknowledgedAfter - acknowledgedBefore} after`
  console.log(`  ${refusals} requests told to come back; recovery within ${recoveryMs} ms; ${taken}`)
  conclude(problems)
}

function conclude(problems: readonly string[]): void {
  for (const problem of problems) console.log(`  ${problem}`)
  console.log(problems.length === 0 ? '  nothing lost, nothing twice' : `  ${problems.length} problems`)
  if (problems.length > 0) process.exitCode = 1
}
