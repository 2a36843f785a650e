/** `npm run faults`: plays each fault of a table against the program under load, and prints what was lost, doubled or forked. */
import type { Fault } from '../test/faults/fault.ts'
import { ON_POSTGRES } from '../test/faults/on-postgres.ts'
import { ON_SQLITE } from '../test/faults/on-sqlite.ts'
import { playFault } from '../test/faults/play.ts'
import { WITHOUT_PROMETHEUS } from '../test/support/prometheus.ts'
import { commitSeed } from './commit-seed.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run faults -- [options]

Play faults of disks, databases, networks, clocks and operators against the program under load. Exit code 1: something was doubled or
forked, or lost that no old backup lacked.

Options:
  --only TEXT      the faults with this text in their names
  --database NAME  sqlite, postgres or both (default: both)
  --jobs N         faults at once (default: 3; on a busy machine 1)
  --seed N         seed of the random choices (default: from the commit)
  --help           print this help`

const { only, database, seed, jobs } = readOptions(USAGE, {
  only: { type: 'string', default: '' },
  database: { type: 'string', default: 'both' },
  jobs: { type: 'string', default: '3' },
  seed: { type: 'string', default: String(commitSeed()) },
})
const isCount = /^[1-9]\d?$/.test(jobs)
const faults = [...ON_SQLITE, ...ON_POSTGRES].filter(
  ({ name, dialect }) => name.includes(only) && (database === 'both' || database === dialect),
)
if (faults.length === 0 || !isCount) {
  console.error(USAGE)
  process.exit(2)
}

console.log(`seed ${seed}`)
if (WITHOUT_PROMETHEUS) console.log(`no alerts: ${WITHOUT_PROMETHEUS}`)
console.log('database | fault | claims | lost | doubled | forked | recovery | by hand | alerts | not ready because')
const totals = { played: 0, claims: 0, lost: 0, doubled: 0, forked: 0, failed: 0 }
const queue = faults.values()
// Faults are mostly waiting.
await Promise.all(Array.from({ length: Number(jobs) }, playNext))
const { played, claims, lost, doubled, forked, failed } = totals
console.log(
  `${played} of ${faults.length} faults played, ${failed} did harm: ${claims} claims, ${lost} lost by restoring old backups, ${doubled} doubled, ${forked} forked`,
)
process.exit(failed === 0 ? 0 : 1)

async function playNext(): Promise<void> {
  for (const fault of queue) await playOne(fault)
}

async function playOne(fault: Fault): Promise<void> {
  const { dialect, name, restores, mend, skip } = fault
  if (skip) {
    console.log(`${dialect} | ${name} | skipped: ${skip}`)
    return
  }
  totals.played++
  try {
    const { claims, lost, doubled, forked, recoveryMs, reasons, alerts, problems } = await playFault(
      fault,
      Number(seed),
    )
    const steps = mend?.steps.join(', ') ?? 'nothing'
    const figures = [claims, lost, doubled, forked, `${(recoveryMs / 1000).toFixed(1)} s`]
    const line = [dialect, name, ...figures, steps, alertsIn(alerts), reasons.join('; ') || '-'].join(' | ')
    console.log([line, ...problems.slice(0, 5).map((problem) => `  ${problem}`)].join('\n'))
    totals.claims += claims
    totals.doubled += doubled
    totals.forked += forked
    if (restores) totals.lost += lost
    const isSound = doubled + forked + problems.length === 0 && (lost === 0 || restores)
    if (!isSound) totals.failed++
  } catch (error) {
    totals.failed++
    console.log(`${dialect} | ${name} | failed: ${(error as Error).message}`)
  }
}

/** Lists the alerts that fired, by their names. */
function alertsIn(alerts: ReadonlyMap<string, string>): string {
  const named = [...alerts].map(([name, state]) => (state === 'firing' ? name : `${name} (${state})`))
  return named.join(', ') || '-'
}
