// Test run: slow
/** The trap table of `chain.transaction.confirm`: no false `verified`, no false blame, and what is true gets told. */

import { createVirtualClock, type Life, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-chain'
import t from 'tap'
import { FALSE } from './false.ts'
import { HONEST } from './honest.ts'
import { type Row, START, type Truth } from './row.ts'
import { ARCHIVE, startEndpoint } from './rpc-node.ts'

const ROWS: readonly Row[] = [...HONEST, ...FALSE]
const SECOND = 1000
const AT_A_TIME = 4

/** Blame that is right, given what is true. */
const RIGHT_BLAME: Readonly<Record<Truth, readonly string[]>> = {
  'in time': [],
  late: ['late', 'failed'],
  never: ['failed'],
  other: ['mismatch', 'failed'],
  unknowable: [],
}
const BLAME: ReadonlySet<string> = new Set(['late', 'mismatch', 'failed'])

interface Played {
  readonly row: Row
  readonly verdict: string
  readonly reason: string | undefined
  readonly life: Life
  /** From the claim to its verdict. */
  readonly seconds: number
}

async function play(row: Row): Promise<Played> {
  const scene = row.scene()
  const { chain, key, claimedMs = 0, submittedMs = claimedMs + SECOND, deadlineMs } = scene
  const path = scene.path ?? (key === undefined ? '' : '/v3')
  const clock = createVirtualClock(START + submittedMs)
  const nodes = scene.nodes ?? [{ chain, states: ARCHIVE }]
  const { instead, after, mistaken, clockMs = 0 } = scene
  const endpoint = await startEndpoint({ nodes, after, mistaken, instead, path, key, clockMs, now: clock.now })
  const chainId = scene.chainId ?? String(chain.kind.chainId)
  const own =
    key === undefined ? { base_url: 'https://node.example' } : { base_url: 'https://mainnet.infura.io/v3', key }
  try {
    const life = await liveClaim({
      plugin,
      connection: { provider: 'evm', options: { ...own, chain_id: chainId, ...scene.connection } },
      destination: endpoint.url,
      claim: {
        action: 'chain.transaction.confirm',
        target: `eip155:${chainId}`,
        params: scene.params as never,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + claimedMs + deadlineMs }),
      },
      submittedAt: START + submittedMs,
      clock,
      reach: async () => {},
    })
    const { value = life.refused ? 'refused' : 'none', reasonCode } = life.decision?.verdict ?? {}
    return { row, verdict: value, reason: reasonCode, life, seconds: (life.decidedAt - START - submittedMs) / SECOND }
  } finally {
    await endpoint.close()
  }
}

/** What the first and the last checks saw, for whoever reads why a row fails. */
function seenIn({ life: { records, log, refused } }: Played): readonly unknown[] {
  const shown = records.length > 8 ? [...records.slice(0, 4), ...records.slice(-4)] : records
  const checks = shown.map((record) => {
    const at = `${(record.sentAt - START) / SECOND} s`
    if (!('observation' in record)) return `${at}: ${JSON.stringify(record.failure)}`
    return `${at}: ${JSON.stringify(record.observation)}`
  })
  const logged = log.slice(-2).map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`.slice(0, 400))
  return [...checks, ...logged, ...(refused ? [refused.message, refused.issues] : [])]
}

function factsOf({ life: { decision } }: Played): Readonly<Record<string, unknown>> {
  return decision && 'observation' in decision.basis ? decision.basis.observation.facts : {}
}

const middle = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0

const outcomes: Played[] = []
const only = process.env.ROW
t.setTimeout(0)
t.test('rows', { jobs: AT_A_TIME }, async (t) => {
  for (const row of ROWS) {
    if (only !== undefined && !row.title.includes(only)) continue
    t.test(`${row.title}: ${row.why}`, async (t) => {
      const played = await play(row)
      outcomes.push(played)
      const { verdict, reason, life, seconds } = played
      const isRight = verdict === row.right || (row.also ?? []).some((one) => one === verdict)
      const told = `${[verdict, reason].filter(Boolean).join('/')} in ${Math.round(seconds)} s by ${life.requests.length} requests`
      t.ok(isRight, `${told}; right is ${row.right}`, isRight ? {} : { checks: seenIn(played) })
      const { facts = {} } = row.scene()
      for (const [name, value] of isRight ? Object.entries(facts) : []) t.same(factsOf(played)[name], value, name)
    })
  }
})

t.test('no row is a false verified, and none a false blame', async (t) => {
  const titles = (rows: readonly Played[]) => rows.map(({ row, verdict }) => `${row.title}: ${verdict}`)
  const falseVerified = outcomes.filter(({ row, verdict }) => verdict === 'verified' && row.truth !== 'in time')
  const falseBlame = outcomes.filter(
    ({ row, verdict }) => BLAME.has(verdict) && !RIGHT_BLAME[row.truth].includes(verdict),
  )
  const avoidable = outcomes.filter(
    ({ row, verdict }) =>
      verdict === 'unverifiable' && row.right !== 'unverifiable' && !row.also?.includes('unverifiable'),
  )
  // What was final before its claim came costs one check.
  const verified = outcomes.filter(
    ({ row, verdict }) => verdict === 'verified' && row.scene().submittedMs === undefined,
  )
  const requests = verified.map(({ life }) => life.requests.length)
  const seconds = verified.map((one) => Math.round(one.seconds))
  t.comment(
    [
      `${outcomes.length} rows: ${falseVerified.length} false verified, ${falseBlame.length} false blame, ${avoidable.length} avoidable unverifiable`,
      `a claim at once was verified by ${middle(requests)} requests (most ${Math.max(...requests)}) in ${middle(seconds)} s (most ${Math.max(...seconds)})`,
    ].join('; '),
  )
  t.ok(middle(requests) <= 100, 'a verified claim takes 100 requests at most, as a rule')
  t.strictSame(titles(falseVerified), [])
  t.strictSame(titles(falseBlame), [])
  t.strictSame(titles(avoidable), [])
})
