// Test run: slow
/** The plugin passes the conformance kit at a Stripe of its tests. */
import { type Destination, type GivenConnection, verifierConformance } from '@claimcheck/core/testkit'
import payments from '@claimcheck/plugin-payments'
import t from 'tap'
import { type ChargeOfTests, type RefundOfTests, StripeOfTests } from './stripe.ts'

t.setTimeout(500_000)

const MINUTE = 60_000
const ACCOUNT = 'acct_1Nv0FGQ9RKHgCVdK'
const CONNECTED = 'acct_1Connected00000'
const KEY = 'rk_live_51Nv0FGQ9RKHgCVdKread'
const CHARGE = 'ch_3MmlLrLkdIwHu7ix0snN0B15'
/** A charge of last week, which is there in all situations. */
const EARLIER = 'ch_3MkEarlierHu7ix0aaaaaaaa'
const REFUND = 're_3MmlLrLkdIwHu7ix0uke3Ezy'

interface Place {
  readonly charge?: Partial<ChargeOfTests>
  readonly refund?: Partial<RefundOfTests>
  readonly account?: string
  /** Seconds for which the objects were there when the kit began; 0 when left out. */
  readonly ageS?: number
}

const SITUATIONS = {
  missing: {},
  done: { charge: {}, refund: {} },
  old: { charge: {}, refund: {}, ageS: 3 * 24 * 3600 },
  reserved: { charge: { captured: false } },
  released: { charge: { captured: false, refunded: true, amount_refunded: 1000 } },
  partly: { charge: { amount: 1000, amount_captured: 600 } },
  sinceUndone: { charge: { refunded: true, amount_refunded: 1000, disputed: true }, refund: {} },
  declined: { charge: { status: 'failed', captured: false, failure_code: 'card_declined' } },
  yen: { charge: { currency: 'jpy' }, refund: { currency: 'jpy' } },
  pending: { charge: {}, refund: { status: 'pending' } },
  failedSoon: {
    charge: {},
    refund: { status: 'failed', failure_reason: 'declined', failure_balance_transaction: 'txn_1' },
  },
  failedLongAgo: {
    charge: {},
    refund: { status: 'failed', failure_reason: 'declined', failure_balance_transaction: 'txn_1' },
    ageS: 3 * 24 * 3600,
  },
  test: { charge: { livemode: false }, refund: {} },
  another: { charge: {}, refund: {}, account: 'acct_1AnotherAccount' },
} as const satisfies Record<string, Place>
type Situation = keyof typeof SITUATIONS

const connection = (options: object = {}): GivenConnection => ({
  provider: 'stripe',
  options: { api_key: KEY, account: ACCOUNT, mode: 'live', ...options },
  target: EARLIER,
})

let stripe: StripeOfTests
let began: number
const destination: Destination<Situation, undefined> = {
  async start({ now }) {
    began = Math.floor(now() / 1000)
    stripe = new StripeOfTests({ key: { secret: KEY, account: ACCOUNT, livemode: true }, now })
    return stripe.start()
  },
  set(situation) {
    const { charge, refund, account = ACCOUNT, ageS = 0 }: Place = SITUATIONS[situation]
    const created = began - ageS
    const earlier = { id: EARLIER, created: began - 7 * 24 * 3600 }
    stripe.charges = [...(charge ? [{ id: CHARGE, created, ...charge }] : []), earlier]
    stripe.refunds = refund ? [{ id: REFUND, charge: CHARGE, created, ...refund }] : []
    stripe.account = account
    stripe.connected = account === ACCOUNT ? [CONNECTED] : []
    return undefined
  },
}

const target = `stripe:${ACCOUNT}`
const refundClaim = (params: object = {}, of = target) => ({
  action: 'payment.refund.succeed',
  target: of,
  params: { refund: REFUND, amount: 1000, currency: 'USD', ...params },
})
const chargeClaim = (params: object = {}) => ({
  action: 'payment.charge.succeed',
  target,
  params: { charge: CHARGE, amount: 1000, currency: 'usd', ...params },
})
const absentRoutes = [/refunds\/re_/, /charges\/ch_/]
const common = {
  plugin: payments,
  connection: connection(),
  destination,
  before: 'missing',
  another: 'another',
} as const

t.test('refunds', async (t) => {
  const report = await verifierConformance(t, {
    ...common,
    cases: [
      {
        name: 'succeeded as claimed',
        situation: 'done',
        claim: refundClaim({ charge: CHARGE }),
        sees: {
          kind: 'present',
          facts: { account: target, mode: 'live', status: 'succeeded', found_amount: 1000, found_charge: CHARGE },
        },
        verdict: 'verified',
      },
      {
        name: 'made days before the claim',
        situation: 'old',
        claim: refundClaim(),
        sees: { kind: 'present', facts: { preexisting: true } },
        verdict: 'verified',
      },
      {
        name: 'of a connected account',
        situation: 'done',
        connection: connection({ connected_account: CONNECTED }),
        claim: refundClaim({}, `stripe:${CONNECTED}`),
        sees: { kind: 'present', facts: { account: `stripe:${CONNECTED}` } },
        verdict: 'verified',
      },
      {
        name: 'pending, then succeeded',
        situation: 'pending',
        changes: [{ afterMs: 2 * MINUTE, situation: 'done' }],
        claim: refundClaim(),
        sees: { kind: 'absent', facts: { status: 'pending' } },
        verdict: 'verified',
      },
      {
        name: 'pending, and succeeded late',
        situation: 'pending',
        changes: [{ afterMs: 40 * MINUTE, situation: 'done' }],
        claim: refundClaim(),
        sees: { kind: 'absent' },
        verdict: 'late',
      },
      {
        name: 'pending to the end',
        situation: 'pending',
        claim: refundClaim(),
        sees: { kind: 'absent', facts: { status: 'pending' } },
        verdict: 'failed',
      },
      {
        name: 'of another amount',
        situation: 'done',
        claim: refundClaim({ amount: 100_000 }),
        sees: { kind: 'present', differs: ['amount'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'of another currency, which has no smaller unit',
        situation: 'yen',
        claim: refundClaim(),
        sees: { kind: 'present', differs: ['currency'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'of another charge',
        situation: 'done',
        claim: refundClaim({ charge: 'ch_3Other' }),
        sees: { kind: 'present', differs: ['charge'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'failed days before the claim',
        situation: 'failedLongAgo',
        claim: refundClaim(),
        sees: { kind: 'absent', facts: { status: 'failed', failure_reason: 'declined' } },
        verdict: 'failed',
      },
      {
        name: 'failed, and may have succeeded just before',
        situation: 'failedSoon',
        claim: refundClaim(),
        sees: { kind: 'absent', mark: 'may_have_been', facts: { status: 'failed' } },
        verdict: 'unverifiable',
      },
      {
        name: 'a test told as live',
        situation: 'test',
        absentRoutes,
        claim: refundClaim(),
        sees: { kind: 'absent', mark: 'never_before', facts: { in_other_mode: true } },
        verdict: 'failed',
      },
      {
        name: 'that there never was',
        situation: 'missing',
        absentRoutes,
        claim: refundClaim(),
        sees: { kind: 'absent', mark: 'never_before', facts: { account: target } },
        verdict: 'failed',
      },
    ],
  })
  t.ok(report.ok)
})

t.test('charges', async (t) => {
  const report = await verifierConformance(t, {
    ...common,
    cases: [
      {
        name: 'succeeded and captured',
        situation: 'done',
        claim: chargeClaim(),
        sees: { kind: 'present', facts: { status: 'succeeded', captured: true, found_amount: 1000, mode: 'live' } },
        verdict: 'verified',
      },
      {
        name: 'refunded and disputed since',
        situation: 'sinceUndone',
        claim: chargeClaim(),
        sees: { kind: 'present', facts: { refunded: true, amount_refunded: 1000, disputed: true } },
        verdict: 'verified',
      },
      {
        name: 'reserved, then captured',
        situation: 'reserved',
        changes: [{ afterMs: 2 * MINUTE, situation: 'done' }],
        claim: chargeClaim(),
        sees: { kind: 'absent', facts: { status: 'succeeded', captured: false } },
        verdict: 'verified',
      },
      {
        name: 'reserved, and never captured',
        situation: 'reserved',
        claim: chargeClaim(),
        sees: { kind: 'absent', facts: { status: 'succeeded', captured: false } },
        verdict: 'failed',
      },
      {
        name: 'released without a capture',
        situation: 'released',
        claim: chargeClaim(),
        sees: { kind: 'absent', mark: 'final', facts: { captured: false, refunded: true } },
        verdict: 'failed',
      },
      {
        name: 'captured in part, as claimed',
        situation: 'partly',
        claim: chargeClaim({ amount: 600 }),
        sees: { kind: 'present', facts: { found_amount: 600, amount_authorized: 1000 } },
        verdict: 'verified',
      },
      {
        name: 'captured in part, and claimed whole',
        situation: 'partly',
        claim: chargeClaim(),
        sees: { kind: 'present', differs: ['amount'], facts: { found_amount: 600 } },
        verdict: 'mismatch',
      },
      {
        name: 'declined',
        situation: 'declined',
        claim: chargeClaim(),
        sees: { kind: 'absent', mark: 'final', facts: { status: 'failed', failure_code: 'card_declined' } },
        verdict: 'failed',
      },
      {
        name: 'that there never was',
        situation: 'missing',
        absentRoutes,
        claim: chargeClaim(),
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
    ],
  })
  t.ok(report.ok)
})
