// Test run: slow
/** What may be said by keys of other rights, modes and accounts, and of refunds that end. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import payments from '@claimcheck/plugin-payments'
import t, { type Test } from 'tap'
import { type RefundOfTests, StripeOfTests } from './stripe.ts'

const START = Date.UTC(2026, 10, 2, 9)
const HOUR = 3_600_000
const ACCOUNT = 'acct_1Nv0FGQ9RKHgCVdK'
const SECRET = 'rk_live_read'
const CHARGE = 'ch_3MmlLrLkdIwHu7ix0snN0B15'
const REFUND = 're_3MmlLrLkdIwHu7ix0uke3Ezy'

interface World {
  readonly keyMode?: 'live' | 'test'
  readonly objectMode?: 'live' | 'test'
  readonly isMade?: boolean
  readonly status?: RefundOfTests['status']
  readonly mayReadAccount?: boolean
  readonly tellsAccount?: boolean
  readonly account?: string
  readonly params?: object
  /** Changes what Stripe has, by the clock. */
  readonly change?: { readonly afterMs: number; readonly make: (stripe: StripeOfTests) => void }
  readonly idleUntil?: number
}

async function live(t: Test, { keyMode = 'live', objectMode = 'live', isMade = true, status, ...world }: World) {
  const clock = createVirtualClock(START)
  const stripe = new StripeOfTests({
    key: { secret: SECRET, account: world.account ?? ACCOUNT, livemode: keyMode === 'live' },
    now: clock.now,
  })
  const { mayReadAccount = true, tellsAccount = true } = world
  Object.assign(stripe, { mayReadAccount, tellsAccount })
  const created = START / 1000 - 2
  const earlier = { id: 'ch_3MkEarlier', created: created - 86_400, livemode: keyMode === 'live' }
  stripe.charges = [earlier]
  if (isMade) {
    stripe.charges = [{ id: CHARGE, created, livemode: objectMode === 'live' }, earlier]
    stripe.refunds = [{ id: REFUND, charge: CHARGE, created, ...(status && { status }) }]
  }
  const { url, stop } = await stripe.start()
  t.teardown(stop)
  const { decision, records, requests } = await liveClaim({
    plugin: payments,
    connection: { provider: 'stripe', options: { api_key: SECRET, account: ACCOUNT, mode: 'live' } },
    destination: url,
    claim: {
      action: 'payment.refund.succeed',
      target: `stripe:${ACCOUNT}`,
      params: { refund: REFUND, amount: 1000, currency: 'usd', ...world.params },
      claimedAt: START,
    },
    submittedAt: START + 500,
    clock,
    async reach(until) {
      if (world.change && until >= START + world.change.afterMs) world.change.make(stripe)
    },
    ...(world.idleUntil !== undefined && { idleUntil: world.idleUntil }),
  })
  const last = records.at(-1)!
  const facts = 'observation' in last ? last.observation.facts : {}
  return { verdict: decision?.verdict.value, facts, requests: requests.length, records }
}

t.test('a key that may read its account', async (t) => {
  const { verdict, facts, requests } = await live(t, {})
  t.equal(verdict, 'verified')
  t.match(facts, { account: `stripe:${ACCOUNT}`, mode: 'live' })
  t.equal(requests, 3, 'reads the account, the refund and its charge')
  t.equal((await live(t, { isMade: false })).verdict, 'failed')
  t.equal((await live(t, { params: { amount: 900 } })).verdict, 'mismatch')
})

t.test('a key that may not read its account, which the refusal names', async (t) => {
  const { verdict, facts } = await live(t, { mayReadAccount: false })
  t.equal(verdict, 'verified')
  t.match(facts, { account: `stripe:${ACCOUNT}` })
  t.equal((await live(t, { mayReadAccount: false, isMade: false })).verdict, 'unverifiable')
  t.equal((await live(t, { mayReadAccount: false, params: { amount: 900 } })).verdict, 'unverifiable')
  t.equal((await live(t, { mayReadAccount: false, account: 'acct_1Other' })).verdict, 'unverifiable')
})

t.test('a key that may not read its account, which nothing names', async (t) => {
  const untold = { mayReadAccount: false, tellsAccount: false }
  const { verdict } = await live(t, untold)
  t.equal(verdict, 'unverifiable', 'the refund may be of any account')
  t.equal((await live(t, { ...untold, isMade: false })).verdict, 'unverifiable')
})

t.test('a key of another account', async (t) => {
  t.equal((await live(t, { account: 'acct_1Other' })).verdict, 'unverifiable')
  t.equal((await live(t, { account: 'acct_1Other', isMade: false })).verdict, 'unverifiable')
})

t.test('a key of another mode than the connection says', async (t) => {
  t.equal((await live(t, { keyMode: 'test', objectMode: 'test' })).verdict, 'unverifiable')
  t.equal((await live(t, { keyMode: 'test' })).verdict, 'unverifiable', 'Stripe says that it is in the other mode')
})

t.test('a test told as live', async (t) => {
  const { verdict, facts } = await live(t, { objectMode: 'test' })
  t.equal(verdict, 'failed')
  t.match(facts, { in_other_mode: true })
})

/** Makes the refund one that is over, as it is when the bank sends its money back. */
const fail =
  (more: Partial<RefundOfTests> = {}) =>
  (stripe: StripeOfTests) => {
    const over = { status: 'failed', failure_reason: 'declined', ...more } as const
    stripe.refunds = stripe.refunds.map((one) => ({ ...one, ...over }))
  }
const moved = { balance_transaction: 'txn_1', failure_balance_transaction: 'txn_2' }

t.test('a refund that failed after it had succeeded', async (t) => {
  const change = { afterMs: HOUR, make: fail(moved) }
  t.equal((await live(t, { change })).verdict, 'verified', 'seen before')
  t.equal((await live(t, { change, idleUntil: START + 2 * HOUR })).verdict, 'unverifiable', 'not looked at before')
  const before = { afterMs: 0, make: fail(moved) }
  t.equal((await live(t, { change: before })).verdict, 'unverifiable', 'it may have succeeded a moment ago')
})

t.test('a refund that never succeeded', async (t) => {
  t.equal((await live(t, { change: { afterMs: 0, make: fail() } })).verdict, 'failed', 'no money moved')
  t.equal((await live(t, { status: 'pending', change: { afterMs: HOUR / 10, make: fail(moved) } })).verdict, 'failed')
  const canceled = fail({ status: 'canceled', failure_reason: 'merchant_request', ...moved })
  t.equal((await live(t, { status: 'requires_action', change: { afterMs: HOUR, make: canceled } })).verdict, 'failed')
})

t.test('a refund without a charge does not tell its mode', async (t) => {
  const make = fail({ status: 'succeeded', charge: null })
  t.equal((await live(t, { change: { afterMs: 0, make } })).verdict, 'unverifiable')
})
