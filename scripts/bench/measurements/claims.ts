/** Claims that are submitted, checked at once, decided, signed, logged and durable when they are answered. */
import type { Dialect } from '../../../test/support/database.ts'
import { decidedClaims, type Target } from '../claims.ts'
import type { Figure } from '../figure.ts'
import { type Answered, load, together } from '../load.ts'
import { createWorkspace, withOpened, withPlace } from '../place.ts'
import { withProcess } from '../process.ts'
import { median, quantile } from '../statistics.ts'

const CONNECTIONS = 64
const ROUNDS = 4
const ROUND_MS = 5_000
const BARE_ROUND_MS = 2_000
const WARM_UP_MS = 2_000
/** About as long as the service's answer. */
const ANSWER_BYTES = 700

const LEAST_RATIO: Readonly<Record<Dialect, number>> = { sqlite: 0.25, postgres: 0.15 }
const NAMES: Readonly<Record<Dialect, string>> = { sqlite: 'SQLite', postgres: 'Postgres' }

export async function measureClaims(): Promise<Figure[]> {
  return withProcess('baseline', { answerBytes: ANSWER_BYTES }, async (bare) => [
    ...(await measureOn('sqlite', bare.url)),
    ...(await measureOn('postgres', bare.url)),
  ])
}

async function measureOn(dialect: Dialect, bareUrl: string): Promise<Figure[]> {
  return withPlace({ dialect }, async (place) => {
    const { key } = await withOpened(place, createWorkspace)
    const measured = await withProcess('host', place, ({ url }) => compare({ url, key }, { url: bareUrl, key: '' }))
    await withOpened(place, async ({ storage }) => {
      const { treeSize } = (await storage.read.log.state())!
      if (treeSize !== measured.answers) throw new Error(`${measured.answers} claims decided, ${treeSize} receipts`)
    })
    const { bare, decided } = measured
    const on = NAMES[dialect]
    return [
      { name: `bare Fastify POST with the same validation, beside ${on}`, value: bare.perSecond, unit: '1/s' },
      { name: `decided claims over HTTP, ${on}`, value: decided.perSecond, unit: '1/s' },
      {
        name: `decided claims, ratio to bare Fastify, ${on}`,
        value: decided.perSecond / bare.perSecond,
        unit: '',
        bar: { atLeast: LEAST_RATIO[dialect] },
      },
      {
        name: `from POST to provable at ${CONNECTIONS} connections, p50, ${on}`,
        value: median(decided.latenciesMs),
        unit: 'ms',
        bar: { atMost: 25 },
      },
      {
        name: `from POST to provable at ${CONNECTIONS} connections, p99, ${on}`,
        value: quantile(decided.latenciesMs, 0.99),
        unit: 'ms',
        bar: { atMost: 100 },
      },
    ]
  })
}

async function compare(service: Target, bare: Target) {
  const submit = (target: Target, durationMs: number) =>
    load({ ...decidedClaims(target), connections: CONNECTIONS, durationMs })
  const rounds: { bare: Answered[]; decided: Answered[] } = { bare: [], decided: [] }
  await submit(bare, WARM_UP_MS)
  const warmUp = await submit(service, WARM_UP_MS)
  for (let round = 0; round < ROUNDS; round++) {
    rounds.bare.push(await submit(bare, BARE_ROUND_MS))
    rounds.decided.push(await submit(service, ROUND_MS))
  }
  const decided = together(rounds.decided)
  return { bare: together(rounds.bare), decided, answers: warmUp.requests + decided.requests }
}
