// Test run: slow
/** The trap table of `payment.refund.succeed` and `payment.charge.succeed`: no false `verified`, no false blame, and what is true gets told. */

import { createVirtualClock, type Life, type LifeOptions, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-payments'
import t from 'tap'
import { CHARGES } from './charges.ts'
import { REFUNDS } from './refunds.ts'
import { connected, type Row, START, type Truth } from './row.ts'
import { CUSTOMER, startStripe } from './stripe-api.ts'

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
  readonly life: Awaited<ReturnType<typeof liveOrUnread>>
  /** What the stand-in found wrong with its answers, and with what it was asked. */
  readonly faults: readonly string[]
  /** From the submission to the verdict. */
  readonly seconds: number
}

async function play(row: Row): Promise<Played> {
  const scene = row.scene()
  const {
    claimedMs = 0,
    submittedMs = claimedMs + SECOND,
    deadlineMs,
    ledger,
    instead,
    version,
    lag,
    dropsAccount = false,
  } = scene
  const { key, options, target } = connected(scene)
  const clock = createVirtualClock(START + submittedMs)
  const stripe = await startStripe({
    ledger,
    keys: [key],
    now: clock.now,
    instead,
    dropsAccount,
    lag: lag && { byMs: lag.byMs, until: START + lag.untilMs },
    ...(version !== undefined && { version }),
  })
  try {
    const life = await liveOrUnread({
      plugin,
      connection: { provider: 'stripe', options },
      destination: stripe.url,
      claim: {
        action: row.action,
        target,
        params: scene.params as never,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
      },
      submittedAt: START + submittedMs,
      clock,
      reach: async () => {},
    })
    const { value = life.refused || life.isUnread ? 'refused' : 'none', reasonCode } = life.decision?.verdict ?? {}
    const seconds = (life.decidedAt - START - submittedMs) / SECOND
    return { row, verdict: value, reason: reasonCode, life, faults: stripe.faults, seconds }
  } finally {
    await stripe.close()
  }
}

/** Plays a life. A claim that means no connection of the workspace is never looked at. */
async function liveOrUnread(options: LifeOptions): Promise<Omit<Life, 'deadlineAt'> & { readonly isUnread?: true }> {
  try {
    return await liveClaim(options)
  } catch (error) {
    if (!(error instanceof TypeError && error.message === 'the connection does not fit the claim')) throw error
    return { records: [], decision: undefined, decidedAt: options.submittedAt, requests: [], log: [], isUnread: true }
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
  for (const row of [...REFUNDS, ...CHARGES]) {
    const name = `${row.action.split('.')[1]}: ${row.title}`
    if (only !== undefined && !name.includes(only)) continue
    t.test(`${name}: ${row.why}`, async (t) => {
      const played = await play(row)
      outcomes.push(played)
      const { verdict, reason, life, seconds, faults } = played
      const isRight = [row.right, ...row.also].some((one) => one === verdict)
      const told = `${[verdict, reason].filter(Boolean).join('/')} in ${Math.round(seconds)} s by ${life.requests.length} requests`
      t.ok(isRight, `${told}; right is ${row.right}`, isRight ? {} : { checks: seenIn(played) })
      t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
      const kept = JSON.stringify([life.records, life.log])
      for (const secret of Object.values(CUSTOMER)) t.notOk(kept.includes(secret), 'no read keeps who the customer is')
      const { facts = {} } = row.scene()
      for (const [name, value] of verdict === 'verified' ? Object.entries(facts) : [])
        t.same(factsOf(played)[name], value, name)
    })
  }
})

t.test('no row is a false verified, and none a false blame', async (t) => {
  const titles = (rows: readonly Played[]) => rows.map(({ row, verdict }) => `${row.action} ${row.title}: ${verdict}`)
  const falseVerified = outcomes.filter(({ row, verdict }) => verdict === 'verified' && row.truth !== 'in time')
  const falseBlame = outcomes.filter(
    ({ row, verdict }) => BLAME.has(verdict) && !RIGHT_BLAME[row.truth].includes(verdict),
  )
  const avoidable = outcomes.filter(
    ({ row, verdict }) =>
      ['unverifiable', 'refused'].includes(verdict) && ![row.right, ...row.also].some((one) => one === verdict),
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
