/**
 * `npm run bench`: measures everything in one run. Machines differ, and one machine from minute to minute: what counts is the ratios,
 * with two sides that are measured in turn.
 */
import { comparisonTable, measureAgainst } from './bench/against.ts'
import { type Figure, judge, table } from './bench/figure.ts'
import { measureAccount } from './bench/measurements/account.ts'
import { measureCells } from './bench/measurements/cells.ts'
import { measureClaims } from './bench/measurements/claims.ts'
import { measureCosts } from './bench/measurements/costs.ts'
import { measureFlood } from './bench/measurements/flood.ts'
import { measureHanging } from './bench/measurements/hanging.ts'
import { measureIsolation } from './bench/measurements/isolation.ts'
import { measureNetwork } from './bench/measurements/network.ts'
import { measurePages } from './bench/measurements/pages.ts'
import { measureQueue } from './bench/measurements/queue.ts'
import { measureReceipts } from './bench/measurements/receipts.ts'
import { measureRequests } from './bench/measurements/requests.ts'
import { measureSize } from './bench/measurements/size.ts'
import { measureWebhooks } from './bench/measurements/webhooks.ts'
import { watchMachine } from './bench/noise.ts'
import { readOptions } from './options.ts'

const MEASUREMENTS: Readonly<Record<string, () => Promise<Figure[]>>> = {
  claims: () => measureClaims('sqlite'),
  costs: measureCosts,
  postgres: () => measureClaims('postgres'),
  receipts: measureReceipts,
  size: measureSize,
  queue: measureQueue,
  hanging: measureHanging,
  isolation: measureIsolation,
  webhooks: measureWebhooks,
  cells: measureCells,
  flood: measureFlood,
  network: measureNetwork,
  account: measureAccount,
  requests: measureRequests,
  pages: measurePages,
}

const USAGE = `Usage: npm run bench -- [options]

Measure the service, and print figures. Everything takes about a quarter of an hour.

Options:
  --only NAMES  measure these parts, separated by commas (default: all):
                ${Object.keys(MEASUREMENTS).join(', ')}
  --against COMMIT
                measure that commit, in a folder of its own, and this version in turns, four times each, and
                print each figure's ratio; ends with 1 where one fell by more than a tenth
  --json        print one JSON array
  --help        print this help`

const values = readOptions(USAGE, {
  against: { type: 'string' },
  json: { type: 'boolean', default: false },
  only: { type: 'string' },
})
const names = values.only === undefined ? Object.keys(MEASUREMENTS) : values.only.split(',')
const unknown = names.find((name) => !Object.hasOwn(MEASUREMENTS, name))
if (unknown !== undefined) {
  console.error(`${unknown} is not measured\n${USAGE}`)
  process.exit(2)
}

if (values.against === undefined) await measure()
else await compare(values.against)

async function compare(commit: string): Promise<void> {
  const compared = await measureAgainst(commit, names)
  process.stdout.write(
    `${values.json ? JSON.stringify(compared, null, 2) : `\n${comparisonTable(commit, compared)}`}\n`,
  )
  if (compared.some(({ hasFallen }) => hasFallen)) process.exitCode = 1
}

async function measure(): Promise<void> {
  const figures: Figure[] = []
  const noise = watchMachine()
  for (const name of names) {
    const start = performance.now()
    process.stderr.write(`measuring ${name} ...`)
    try {
      figures.push(...(await MEASUREMENTS[name]!()))
      process.stderr.write(` ${Math.round((performance.now() - start) / 1000)} s\n`)
    } catch (error) {
      // The others are worth their figures.
      process.stderr.write(` failed: ${(error as Error).stack}\n`)
      process.exitCode = 1
    }
  }
  const results = [...figures, ...noise()].map(judge)
  process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : `\n${table(results)}\n`)
}
