/** `npm run crash`: hosts under load are killed with SIGKILL again and again, and nothing may be lost or done twice. */
import { parseArgs } from 'node:util'
import { runOutageTest } from '../test/crash/outage.ts'
import { runCrashTest } from '../test/crash/run.ts'
import type { Dialect } from '../test/support/database.ts'

const USAGE = 'npm run crash -- [--seconds N] [--database sqlite|postgres|both] [--hosts N, on PostgreSQL] [--seed N]'
const DIALECTS: Readonly<Record<string, readonly Dialect[]>> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
}

const OUTAGE_SECONDS = 20

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    database: { type: 'string', default: 'both' },
    hosts: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
})
const [seconds, hosts, seed] = [values.seconds, values.hosts, values.seed].map(Number) as [number, number, number]
const dialects = DIALECTS[values.database]
if (!dialects || !(seconds > 0) || !(hosts >= 1) || !(seed >= 0)) {
  console.error(USAGE)
  process.exit(2)
}

for (const dialect of dialects) {
  const count = dialect === 'postgres' ? hosts : 1
  console.log(`${dialect}: ${count} ${count === 1 ? 'host' : 'hosts'}, ${seconds} s, seed ${seed}`)
  const report = await runCrashTest({ dialect, hosts: count, seconds, seed })
  const { kills, acknowledged, claims, receipts, heads } = report
  console.log(
    `  ${kills} kills; ${acknowledged} claims acknowledged of ${claims}; ${receipts} receipts; ${heads} heads`,
  )
  conclude(report)
}
if (dialects.includes('postgres')) {
  console.log(`postgres: crashed, and away for ${OUTAGE_SECONDS} s`)
  const report = await runOutageTest({ mode: 'immediate', seconds: OUTAGE_SECONDS, hosts, seed })
  const { refusals, recoveryMs, acknowledgedBefore, acknowledgedAfter } = report
  const taken = `${acknowledgedBefore} claims acknowledged before, ${acknowledgedAfter - acknowledgedBefore} after`
  console.log(`  ${refusals} requests told to come back; recovery within ${recoveryMs} ms; ${taken}`)
  conclude(report)
}

function conclude({ problems }: { readonly problems: readonly string[] }): void {
  for (const problem of problems) console.log(`  ${problem}`)
  console.log(problems.length === 0 ? '  nothing lost, nothing twice' : `  ${problems.length} problems`)
  if (problems.length > 0) process.exitCode = 1
}
