/** `npm run faults`: plays each fault of a table against the program under load, and prints what was lost, doubled or forked. */
import { ON_POSTGRES } from '../test/faults/on-postgres.ts'
import { ON_SQLITE } from '../test/faults/on-sqlite.ts'
import { playFault } from '../test/faults/play.ts'
import { WITHOUT_PROMETHEUS } from '../test/support/prometheus.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run faults -- [options]

Play faults of disks, databases, networks, clocks and operators against the program under load. Exit code 1: something was doubled or
forked, or lost that no old backup lacked.

Options:
  --only TEXT      the faults with this text in their names
  --database NAME  sqlite, postgres or both (default: both)
  --seed N         seed of the random choices (default: from the clock)
  --help           print this help`

const { only, database, seed } = readOptions(USAGE, {
  only: { type: 'string', default: '' },
  database: { type: 'string', default: 'both' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
})
const faults = [...ON_SQLITE, ...ON_POSTGRES].filter(
  ({ name, dialect }) => name.includes(only) && (database === 'both' || database === dialect),
)
if (faults.length === 0) {
  console.error(USAGE)
  process.exit(2)
}

console.log(`seed ${seed}`)
if (WITHOUT_PROMETHEUS) console.log(`no alerts: ${WITHOUT_PROMETHEUS}`)
console.log('database | fault | claims | lost | doubled | forked | recovery | by hand | alerts | not ready because')
let failed = 0
for (const fault of faults) {
  const { dialect, name, restores, mend } = fault
  if (fault.skip) {
    console.log(`${dialect} | ${name} | skipped: ${fault.skip}`)
    continue
  }
  try {
    const { claims, lost, doubled, forked, recoveryMs, reasons, alerts, problems } = await playFault(
      fault,
      Number(seed),
    )
    const steps = mend?.steps.join(', ') ?? 'nothing'
    const figures = [claims, lost, doubled, forked, `${(recoveryMs / 1000).toFixed(1)} s`]
    console.log([dialect, name, ...figures, steps, alertsIn(alerts), reasons.join('; ') || '-'].join(' | '))
    for (const problem of problems.slice(0, 5)) console.log(`  ${problem}`)
    const isSound = doubled + forked + problems.length === 0 && (lost === 0 || restores)
    if (!isSound) failed++
  } catch (error) {
    failed++
    console.log(`${dialect} | ${name} | failed: ${(error as Error).message}`)
  }
}

/** Those that fired by their names alone. */
function alertsIn(alerts: ReadonlyMap<string, string>): string {
  const named = [...alerts].map(([name, state]) => (state === 'firing' ? name : `${name} (${state})`))
  return named.join(', ') || '-'
}

console.log(
  failed === 0
    ? `${faults.length} faults: nothing doubled, nothing forked, nothing lost`
    : `${failed} of ${faults.length} faults did harm`,
)
process.exit(failed === 0 ? 0 : 1)
