/** The stand-in itself: it answers as published, and its books take no step that Stripe's documentation does not know. */
import t from 'tap'
import { START } from '../../../../test/traps/verifier-table.ts'
import { SHOP } from './ledger.ts'
import { ALL_RIGHTS, books, CHARGE, OTHER_CHARGE, OTHER_SHOP, REFUND, SECOND, SELLER } from './row.ts'
import { type Key, startStripe } from './stripe-api.ts'

const OWN = { account: SHOP, mode: 'live', rights: ALL_RIGHTS } as const
const KEYS: readonly Key[] = [
  { ...OWN, secret: 'rk_live_platform', connected: [SELLER] },
  { ...OWN, secret: 'rk_live_alone' },
  { ...OWN, secret: 'rk_live_nothing', rights: [] },
  { ...OWN, secret: 'rk_live_expired', expiresAt: START },
  { ...OWN, secret: 'rk_test_platform', mode: 'test' },
]
const ledger = books()
  .charge(0, { id: CHARGE, amount: 4900 })
  .charge(0, { id: OTHER_CHARGE, amount: 4900, account: SELLER, status: 'failed', failureCode: 'card_declined' })
  .refund(SECOND, { id: REFUND, charge: CHARGE, amount: 1200, status: 'pending' })
  .move(2 * SECOND, REFUND, 'failed', 'insufficient_funds')

interface Asked {
  readonly path: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ANSWERS: readonly (readonly [title: string, Asked, status: number, field: string, value: unknown])[] = [
  ['a charge', { path: `charges/${CHARGE}` }, 200, 'amount_refunded', 0],
  ['a refund', { path: `refunds/${REFUND}` }, 200, 'failure_reason', 'insufficient_funds'],
  ['a refund with its charge', { path: `refunds/${REFUND}?expand[]=charge` }, 200, 'object', 'refund'],
  ['the own account', { path: 'account' }, 200, 'id', SHOP],
  ['a connected account', { path: 'account', headers: { 'stripe-account': SELLER } }, 200, 'id', SELLER],
  [
    'a charge of a connected account',
    { path: `charges/${OTHER_CHARGE}`, headers: { 'stripe-account': SELLER } },
    200,
    'failure_code',
    'card_declined',
  ],
  ['its charge without its name', { path: `charges/${OTHER_CHARGE}` }, 404, 'code', 'resource_missing'],
  ['a charge as a refund', { path: `refunds/${CHARGE}` }, 404, 'code', 'resource_missing'],
  [
    'an account of another',
    { path: 'account', headers: { 'stripe-account': OTHER_SHOP } },
    403,
    'code',
    'account_invalid',
  ],
  [
    'without rights for Connect',
    { path: 'account', key: 'rk_live_alone', headers: { 'stripe-account': SELLER } },
    403,
    'code',
    undefined,
  ],
  ['without the right', { path: `charges/${CHARGE}`, key: 'rk_live_nothing' }, 403, 'code', undefined],
  ['of the other mode', { path: `charges/${CHARGE}`, key: 'rk_test_platform' }, 404, 'code', 'resource_missing'],
  ['with a key that has expired', { path: 'account', key: 'rk_live_expired' }, 401, 'code', 'api_key_expired'],
  ['with a wrong key', { path: 'account', key: 'rk_live_wrong' }, 401, 'code', undefined],
  ['of no version', { path: 'account', headers: { 'stripe-version': 'newest' } }, 400, 'code', undefined],
  ['an unknown path', { path: 'nothing' }, 404, 'code', undefined],
]

t.test('answers', async (t) => {
  const stripe = await startStripe({ ledger, keys: KEYS, now: () => START + 3 * SECOND })
  t.teardown(() => stripe.close())
  for (const [title, { path, key = 'rk_live_platform', headers = {} }, status, field, value] of ANSWERS) {
    const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
    const answer = await fetch(`${stripe.url}/v1/${path}`, {
      headers: { authorization, 'stripe-version': '2024-06-20', ...headers },
    })
    const body = (await answer.json()) as { error?: Record<string, unknown> } & Record<string, unknown>
    t.equal(answer.status, status, title)
    t.equal((body.error ?? body)[field], value, `${title}: ${field}`)
  }
  t.strictSame(stripe.faults, [], 'all answers are as published')
})

t.test('steps that there are not', async (t) => {
  const order = () => books().charge(0, { id: CHARGE, amount: 4900 })
  const refunded = () => order().refund(0, { id: REFUND, charge: CHARGE })
  t.throws(() => refunded().move(0, REFUND, 'canceled'), 'what succeeded is not canceled')
  t.throws(() => refunded().move(0, REFUND, 'failed').move(0, REFUND, 'succeeded'), 'what failed stays so')
  t.throws(() => refunded().refund(0, { id: 're_more', charge: CHARGE, amount: 1 }), 'no more than was captured')
  t.throws(() => order().capture(0, CHARGE), 'what is captured is not captured again')
  const failed = refunded().move(0, REFUND, 'failed').at(START)
  t.equal(failed.charges.get(CHARGE)?.amountRefunded, 0, 'a refund that failed is none of the charge')
})
