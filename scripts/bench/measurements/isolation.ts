/** Measures what isolation costs a plugin's claims, and what bad plugins cost the claims of others. */
import { setTimeout } from 'node:timers/promises'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { connect } from '../../../test/support/connect.ts'
import { SCRIPTED } from '../../../test/support/installation.ts'
import { claimsOf, decidingSide, type Host, withHost } from '../claims.ts'
import { type Figure, figure } from '../figure.ts'
import { type Answered, type Load, load } from '../load.ts'
import { median, quantile } from '../statistics.ts'
import { inTurn } from '../turns.ts'

const CONNECTIONS = 64
const LOAD = { connections: CONNECTIONS, roundMs: 4_000 }
const ROUNDS = 2
const WARM_UP_MS = 2_000
const SCRIPTED_FILE = 'build/test/plugins/scripted.js'
const DEEDS_FILE = 'build/server/test/plugins/isolation/deeds.js'
const BAD_PACE_MS = 100
const BAD_ROUND_MS = 1_200
/** The attacks of the bad plugin, in the words of its claims. */
const DEEDS = [
  'loops',
  'loops in microtasks',
  'loops in a timer',
  'loops in a getter',
  'exits',
  'aborts',
  'fills the heap',
  'fills buffers',
  'floods the log',
  'floods the pipe',
  'speaks another protocol',
  'returns megabytes',
  'rejects without a listener',
  'breaks a stream',
  'throws in a timer',
  'waits for ever',
]

export async function measureIsolation(): Promise<Figure[]> {
  return [...(await measureProcess()), ...(await measureBystanders())]
}

async function measureProcess(): Promise<Figure[]> {
  return withHost({ plugins: [SCRIPTED] }, (inHost) =>
    withHost({ plugins: [], isolated: [SCRIPTED_FILE] }, async (inProcess) => {
      const sides = {
        trusted: decidingSide(inHost.served, inHost.target.key, LOAD),
        isolated: decidingSide(inProcess.served, inProcess.target.key, LOAD),
      }
      const { trusted, isolated } = await inTurn(sides, { rounds: ROUNDS, warmUpMs: WARM_UP_MS })
      return [
        { name: 'decided claims, the plugin in a process of its own', value: isolated.perSecond, unit: '1/s' },
        figure(
          'decided claims, the plugin in a process of its own: processor time of both for one',
          isolated.cpuMicros,
          'µs',
        ),
        figure(
          'decided claims in a process of its own, ratio to a trusted plugin',
          isolated.perSecond / trusted.perSecond,
          '',
          { atLeast: 0.6 },
        ),
        { name: 'p50 in a process of its own', value: median(isolated.latenciesMs), unit: 'ms' },
      ]
    }),
  )
}

/** Measures each attack in turn, and the same load without it. */
async function measureBystanders(): Promise<Figure[]> {
  // The host warns of each process that ends, which is what happens here.
  const env = { LOG_LEVEL: 'error' }
  const plugins = { plugins: [SCRIPTED], isolated: [DEEDS_FILE], env }
  const work = async ({ target }: Host, key: string): Promise<Figure[]> => {
    const other = { url: target.url, key }
    const good = (durationMs: number) =>
      load({ ...claimsOf(target, 'test.outcome.reach'), connections: CONNECTIONS, durationMs })
    await good(WARM_UP_MS)
    const figures: Figure[] = []
    const all: { alone: Answered[]; beside: Answered[] } = { alone: [], beside: [] }
    for (const deed of DEEDS) {
      const alone = await good(BAD_ROUND_MS)
      const bad = claimsOf(other, 'test.deed.do', { deed })
      const [beside] = await Promise.all([good(BAD_ROUND_MS), paced(bad, BAD_ROUND_MS - 500)])
      all.alone.push(alone)
      all.beside.push(beside)
      figures.push(
        figure(`claims of others while a plugin ${deed}, ratio`, perSecond([beside]) / perSecond([alone]), ''),
      )
    }
    return [
      ...figures,
      figure('claims of others beside bad plugins, ratio to none', perSecond(all.beside) / perSecond(all.alone), '', {
        atLeast: 0.9,
      }),
      figure(
        'p99 of others beside bad plugins, ratio to none',
        quantile(latenciesMs(all.beside), 0.99) / quantile(latenciesMs(all.alone), 0.99),
        '',
        { atMost: 1.5 },
      ),
    ]
  }
  return withHost(plugins, work, badKey)
}

/** A claim now and then: what is measured is what the plugin does, and not a flood of submissions. */
async function paced(claims: Pick<Load, 'url' | 'request'>, durationMs: number): Promise<void> {
  const end = performance.now() + durationMs
  while (performance.now() < end) {
    void load({ ...claims, connections: 1, durationMs: 0 }).catch(() => {})
    await setTimeout(BAD_PACE_MS)
  }
}

/** The key of another workspace than the measured one, which the bad plugin's claims are of. */
async function badKey(claimcheck: Claimcheck): Promise<string> {
  const { id } = await claimcheck.workspaces.create('bad')
  await connect(claimcheck, id, 'deeds', { base_url: 'https://deeds.example', token: 'a-token' })
  return (await claimcheck.keys.create(id, 'bad')).key
}

function perSecond(rounds: readonly Answered[]): number {
  const sum = (of: (round: Answered) => number) => rounds.reduce((total, round) => total + of(round), 0)
  return (1000 * sum((round) => round.requests)) / sum((round) => round.durationMs)
}

function latenciesMs(rounds: readonly Answered[]): number[] {
  return rounds.flatMap((round) => round.latenciesMs)
}
