/** Measures the cost of a request of each class of routes, against the smallest answer of the same server: the gate takes tokens by it. */
import { COSTS, type CostClass } from '@claimcheck/server/http/costs'
import { NO_LIMITS } from '../../../test/support/installation.ts'
import { type Figure, figure } from '../figure.ts'
import { withInstallation, withOpened } from '../installation.ts'
import { type Served, withProcess } from '../process.ts'
import { enterWorld, PLUGINS, prepareWorld, SAMPLES, type Sample, type World, withDestination } from '../samples.ts'
import { median } from '../statistics.ts'

const ROUNDS = 5
const ROUND_MS = 600
const WARM_UP_MS = 1500
const AT_ONCE = 8
/** Shared machines measure a class higher or lower by so much. */
const MOST_OVER = 1.5

export function measureCosts(): Promise<Figure[]> {
  return withDestination((address) => {
    const options = {
      plugins: PLUGINS,
      env: { ALLOW_PRIVATE: address, METRICS_TOKEN: '' },
      limits: { ...NO_LIMITS, refusals: 0, sign_in: 0 },
      file: { limits: { exports_per_account: 0 } },
    }
    return withInstallation(options, async (installation) => {
      const prepared = await withOpened(installation, (claimcheck) => prepareWorld(claimcheck, `http://${address}`))
      return withProcess('host', installation, async (served) =>
        measure(served, await enterWorld(served.url, prepared)),
      )
    })
  })
}

async function measure(served: Served, world: World): Promise<Figure[]> {
  const names = Object.keys(COSTS) as CostClass[]
  for (const name of names) await ask(world, SAMPLES[name], WARM_UP_MS)
  const taken = new Map<CostClass, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    const smallest = await cpuOfOne(served, world, 'small')
    for (const name of names) taken.get(name)!.push((await cpuOfOne(served, world, name)) / smallest)
  }
  return names.map((name) => {
    const { tokens } = COSTS[name]
    return figure(`cost of ${name}: ${tokens} tokens`, median(taken.get(name)!), '', { atMost: MOST_OVER * tokens })
  })
}

async function cpuOfOne(served: Served, world: World, name: CostClass): Promise<number> {
  const before = served.cpuMs()
  const requests = await ask(world, SAMPLES[name], ROUND_MS)
  return (served.cpuMs() - before) / requests
}

/** Returns how many were answered. */
async function ask(world: World, sample: Sample, durationMs: number): Promise<number> {
  const end = performance.now() + durationMs
  let count = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < end) {
        const [path, init] = sample(world)
        const answer = await fetch(world.url + path, { ...init, redirect: 'manual' })
        const text = await answer.text()
        if (answer.status >= 400) throw new Error(`${path} answers with ${answer.status}: ${text.slice(0, 500)}`)
        count++
      }
    }),
  )
  return count
}
