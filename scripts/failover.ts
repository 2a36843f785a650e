/** `npm run failover`: Postgres under Patroni, etcd and HAProxy fails over under load, and nothing may be lost, done twice or forked. */
import { commitSeed } from './commit-seed.ts'
import { Cluster, whatIsMissing } from './failover/cluster.ts'
import { type Row, Trials } from './failover/trial.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run failover -- [options]

Kill the primary of a Patroni cluster under load, twice; then promote a standby that lacks commits. Takes some three minutes.

Options:
  --hosts N   hosts (default: 3)
  --seed N    seed of the random choices (default: from the commit)
  --help      print this help`
const SERVERS = 2
const COLUMNS = ['fault', 'claims', 'lost', 'doubled', 'forked', 'seconds to recovery', 'manual steps']

const values = readOptions(USAGE, {
  hosts: { type: 'string', default: '3' },
  seed: { type: 'string', default: String(commitSeed()) },
})
const [hosts, seed] = [values.hosts, values.seed].map(Number) as [number, number]
const missing = whatIsMissing()
if (!(hosts >= 1) || !(seed >= 0) || missing !== undefined) {
  console.error(missing ?? USAGE)
  process.exit(2)
}

console.log(`${SERVERS} servers, ${hosts} hosts, seed ${seed}`)
// Servers end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const cluster = await Cluster.start(SERVERS)
try {
  const trials = await Trials.start(cluster, hosts, seed)
  try {
    console.log(line(COLUMNS))
    conclude(await trials.killPrimary('the primary is killed, the standby is synchronous'))
    conclude(await trials.killPrimary('the new primary is killed as well'))
    const stopped = await trials.promoteLagging('a standby that lags is promoted', (reason) =>
      console.log(`  every host stops: ${reason}`),
    )
    // Everything that the standby lacked is gone.
    conclude(stopped.lost > 0 ? stopped : { ...stopped, problems: ['the standby lacked nothing'] }, stopped.lost)
  } finally {
    await trials.remove()
  }
} finally {
  cluster.remove()
}

/** @param lacked how many claims may be lost */
function conclude(row: Row, lacked = 0): void {
  const { fault, claims, lost, doubled, forked, recoveryMs, manualSteps, problems } = row
  console.log(line([fault, claims, lost, doubled, forked, (recoveryMs / 1000).toFixed(1), manualSteps]))
  for (const problem of problems) console.log(`  ${problem}`)
  if (lost > lacked || doubled + forked + problems.length > 0) process.exitCode = 1
}

function line(cells: readonly (string | number)[]): string {
  const [first, ...others] = cells.map(String)
  return `${first!.padEnd(52)}${others.map((cell, index) => cell.padStart(COLUMNS[index + 1]!.length + 2)).join('')}`
}
