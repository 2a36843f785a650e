// Test run: slow
/** The trap table of `container.image.push`: no false `verified`, no false blame, and what is true gets told. */

import { createVirtualClock, type Life, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-container'
import t from 'tap'
import { FALSE } from './false.ts'
import { HONEST } from './honest.ts'
import { startRegistry } from './oci-registry.ts'
import { type Row, START, type Truth } from './row.ts'

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
  /** From the submission to the verdict. */
  readonly seconds: number
}

async function play(row: Row): Promise<Played> {
  const scene = row.scene()
  const { kind = 'docker-registry', target = 'registry.example.com/acme/api', params } = scene
  const { claimedMs = 20 * SECOND, submittedMs = claimedMs + SECOND, idleMs, connection } = scene
  const clock = createVirtualClock(START + submittedMs)
  const registry = await startRegistry({ ...scene, kind }, clock.now, START)
  const options = Object.fromEntries(
    Object.entries(connection ?? {}).map(([name, value]) => [name, value === 'ISSUER' ? registry.issuerUrl : value]),
  )
  try {
    const life = await liveClaim({
      plugin,
      connection: connection ? { provider: 'oci', options } : null,
      destination: registry.url,
      claim: { action: 'container.image.push', target, params: params as never, claimedAt: START + claimedMs },
      submittedAt: START + submittedMs,
      ...(idleMs !== undefined && { idleUntil: START + idleMs }),
      clock,
      reach: async () => {},
    })
    const { value = life.refused ? 'refused' : 'none', reasonCode } = life.decision?.verdict ?? {}
    return { row, verdict: value, reason: reasonCode, life, seconds: (life.decidedAt - START - submittedMs) / SECOND }
  } finally {
    await registry.close()
  }
}

/** What the first and the last checks saw, for whoever reads why a row fails. */
function seenIn({ life: { records, requests, log, refused } }: Played): readonly unknown[] {
  const shown = records.length > 4 ? [...records.slice(0, 2), ...records.slice(-2)] : records
  const checks = shown.map((record) => {
    const at = `${(record.sentAt - START) / SECOND} s`
    if (!('observation' in record)) return `${at}: ${JSON.stringify(record.failure)}`
    return `${at}: ${JSON.stringify(record.observation)}`
  })
  const asked = requests.slice(0, 5).map(({ key, status }) => `${key}: ${status}`)
  const logged = log.slice(-2).map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`.slice(0, 400))
  return [...checks, ...asked, ...logged, ...(refused ? [refused.message, refused.issues] : [])]
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
    ({ row, verdict }) =>
      BLAME.has(verdict) &&
      !RIGHT_BLAME[row.truth].includes(verdict) &&
      !(row.also ?? []).some((one) => one === verdict),
  )
  const avoidable = outcomes.filter(
    ({ row, verdict }) =>
      verdict === 'unverifiable' && row.right !== 'unverifiable' && !row.also?.includes('unverifiable'),
  )
  const verified = outcomes.filter(({ verdict }) => verdict === 'verified')
  const requests = verified.map(({ life }) => life.requests.length)
  const seconds = verified.map((one) => Math.round(one.seconds))
  t.comment(
    [
      `${outcomes.length} rows: ${falseVerified.length} false verified, ${falseBlame.length} false blame, ${avoidable.length} avoidable unverifiable`,
      `a verified claim took ${middle(requests)} requests (most ${Math.max(...requests)}) and ${middle(seconds)} s (most ${Math.max(...seconds)})`,
    ].join('; '),
  )
  t.strictSame(titles(falseVerified), [])
  t.strictSame(titles(falseBlame), [])
  t.strictSame(titles(avoidable), [])
})
