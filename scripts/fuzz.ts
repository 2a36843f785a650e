/** `npm run fuzz`: sends malformed requests to the service, and lists wrong answers. `npm test` runs a short form. */
import { runFuzz } from '../test/fuzz/run.ts'
import { commitSeed } from './commit-seed.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run fuzz -- [options]

Send malformed requests to every route, operation and form, and list wrong answers as curl commands.

Options:
  --requests N     number of requests (default: 20000)
  --seed N         seed of the random choices, to repeat a run (default: from the commit)
  --database NAME  sqlite or postgres (default: sqlite)
  --help           print this help`

const values = readOptions(USAGE, {
  requests: { type: 'string', default: '20000' },
  seed: { type: 'string', default: String(commitSeed()) },
  database: { type: 'string', default: 'sqlite' },
})
const [requests, seed] = [values.requests, values.seed].map(Number) as [number, number]
const { database } = values
if (!(requests >= 1) || !(seed >= 0) || (database !== 'sqlite' && database !== 'postgres')) {
  console.error(USAGE)
  process.exit(2)
}

console.log(`${requests} requests, seed ${seed}, ${database}`)
const startedAt = Date.now()
const { statuses, problems, forms, routes, operations } = await runFuzz({ requests, seed, dialect: database })
console.log(
  `  ${operations} operations, ${routes} routes, ${forms} forms; ${Math.round((Date.now() - startedAt) / 1000)} s`,
)
for (const [kind, counts] of Object.entries(statuses)) {
  const words = Object.entries(counts).map(([status, count]) => `${count} × ${status}`)
  console.log(`  ${kind}: ${words.join(', ')}`)
}
for (const problem of problems) console.log(problem)
console.log(problems.length === 0 ? '  nothing wrong' : `  ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1
