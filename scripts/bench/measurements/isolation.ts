/** What a process of its own costs a plugin's claims, and what bad plugins cost the claims of others. */
import { setTimeout } from 'node:timers/promises'
import { connect } from '../../../test/support/connect.ts'
import { SCRIPTED } from '../../../test/support/installation.ts'
import { claimsOf, decidedClaims, type Target } from '../claims.ts'
import type { Figure } from '../figure.ts'
import { type Answered, type Load, load, together } from '../load.ts'
import { createWorkspace, type PlaceOptions, withOpened, withPlace } from '../place.ts'
import { withProcess } from '../process.ts'
import { median, quantile } from '../statistics.ts'

const CONNECTIONS = 64
const ROUNDS = 4
const ROUND_MS = 4_000
const WARM_UP_MS = 2_000
const SCRIPTED_FILE = 'build/test/plugins/scripted.js'
const DEEDS_FILE = 'build/server/test/plugins/isolation/deeds.js'
const BAD_PACE_MS = 100
const BAD_ROUND_MS = 2_500
/** What the bad plugin does, in the words of its claims. */
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
  return withHost({ plugins: [SCRIPTED] }, (trusted) =>
    withHost({ plugins: [], isolated: [SCRIPTED_FILE] }, async (isolated) => {
      const submit = (target: Target, durationMs: number) =>
        load({ ...decidedClaims(target), connections: CONNECTIONS, durationMs })
      const rounds: { trusted: Answered[]; isolated: Answered[] } = { trusted: [], isolated: [] }
      await submit(trusted, WARM_UP_MS)
      await submit(isolated, WARM_UP_MS)
      for (let round = 0; round < ROUNDS; round++) {
        rounds.trusted.push(await submit(trusted, ROUND_MS))
        rounds.isolated.push(await submit(isolated, ROUND_MS))
      }
      const [one, other] = [together(rounds.trusted), together(rounds.isolated)]
      return [
        { name: 'decided claims, the plugin in a process of its own', value: other.perSecond, unit: '1/s' },
        {
          name: 'decided claims in a process of its own, ratio to a trusted plugin',
          value: other.perSecond / one.perSecond,
          unit: '',
          bar: { atLeast: 0.6 },
        },
        { name: 'p50 in a process of its own', value: median(other.latenciesMs), unit: 'ms' },
      ]
    }),
  )
}

/** Each deed in turn, beside the same load without it. */
async function measureBystanders(): Promise<Figure[]> {
  return withHost({ plugins: [SCRIPTED], isolated: [DEEDS_FILE] }, async (target, other) => {
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
      figures.push({
        name: `claims of others while a plugin ${deed}, ratio`,
        value: together([beside]).perSecond / together([alone]).perSecond,
        unit: '',
      })
    }
    const [alone, beside] = [together(all.alone), together(all.beside)]
    return [
      ...figures,
      {
        name: 'claims of others beside bad plugins, ratio to none',
        value: beside.perSecond / alone.perSecond,
        unit: '',
        bar: { atLeast: 0.9 },
      },
      {
        name: 'p99 of others beside bad plugins, ratio to none',
        value: quantile(beside.latenciesMs, 0.99) / quantile(alone.latenciesMs, 0.99),
        unit: '',
        bar: { atMost: 1.5 },
      },
    ]
  })
}

/** A claim now and then: what is measured is what the plugin does, and not a flood of submissions. */
async function paced(claims: Pick<Load, 'url' | 'request'>, durationMs: number): Promise<void> {
  const end = performance.now() + durationMs
  while (performance.now() < end) {
    void load({ ...claims, connections: 1, durationMs: 0 }).catch(() => {})
    await setTimeout(BAD_PACE_MS)
  }
}

async function withHost<T>(options: PlaceOptions, work: (target: Target, other: Target) => Promise<T>): Promise<T> {
  return withPlace(options, async (place) => {
    const [key, badKey] = await withOpened(place, async (claimcheck) => {
      const { key } = await createWorkspace(claimcheck)
      // Of another workspace than the claims that are measured.
      const { id } = await claimcheck.workspaces.create('bad')
      const { key: badKey } = await claimcheck.keys.create(id, 'bad')
      if (options.isolated?.includes(DEEDS_FILE)) {
        await connect(claimcheck, id, 'deeds', { base_url: 'https://deeds.example', token: 'a-token' })
      }
      return [key, badKey] as const
    })
    return withProcess('host', place, ({ url }) => work({ url, key }, { url, key: badKey }))
  })
}
