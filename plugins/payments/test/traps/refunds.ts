/** Claims of refunds: true ones as agents make them, false ones, and those of which Stripe shows too little. */
import { idOf, type Ledger } from './ledger.ts'
import {
  books,
  CHARGE,
  DAY,
  FAILED,
  HOUR,
  instead,
  LATE,
  MINUTE,
  NOT_DONE,
  OTHER,
  OTHER_CHARGE,
  OTHER_REFUND,
  OTHER_SHOP,
  REFUND,
  type Row,
  rowsOf,
  SECOND,
  SELLER,
  TRUE,
  TRUE_UNTOLD,
  UNKNOWABLE,
} from './row.ts'
import {
  BROKEN,
  DOWN,
  EMPTY,
  FILTERED,
  LIMITED,
  LOCKED,
  NO_PERMISSION,
  NO_ROUTE,
  NO_SUCH_REFUND,
  SIGN_IN,
  TOO_OLD,
  UNKNOWN_PATH,
} from './troubles.ts'

const row = rowsOf('payment.refund.succeed')

/** An order that was paid some days before. */
function paid(given: Partial<Parameters<Ledger['charge']>[1]> = {}): Ledger {
  return books().charge(-3 * DAY, { id: CHARGE, amount: 4900, ...given })
}

type Refunded = Partial<Parameters<Ledger['refund']>[1]> & { readonly at?: number }

/** The order, and its refund. */
function refunded({ at = 0, ...given }: Refunded = {}, charge: Parameters<typeof paid>[0] = {}): Ledger {
  return paid(charge).refund(at, { id: REFUND, charge: CHARGE, ...given })
}

const named = (given: Readonly<Record<string, unknown>> = {}) => ({
  refund: REFUND,
  amount: 4900,
  currency: 'usd',
  ...given,
})
const params = named()
const debit = { method: 'us_bank_account' } as const
const DEBIT_REFUND = idOf('pyr', 'a refund by bank')

const HONEST: readonly Row[] = [
  row(TRUE, 'a card refund', 'it succeeded with its creation', () => ({ ledger: refunded(), params })),
  row(TRUE, 'a card refund, with its charge', 'the refund names the charge', () => ({
    ledger: refunded(),
    params: named({ charge: CHARGE }),
  })),
  row(TRUE, 'a refund that is pending for five minutes', 'it succeeded within the tolerance', () => ({
    ledger: refunded({ status: 'pending' }).move(5 * MINUTE, REFUND, 'succeeded'),
    params,
  })),
  row(TRUE, 'pending for four minutes, claimed when it succeeded', 'it was created before the claim', () => ({
    ledger: refunded({ status: 'pending' }).move(4 * MINUTE, REFUND, 'succeeded'),
    params,
    claimedMs: 4 * MINUTE + 2 * SECOND,
  })),
  row(TRUE, 'a refund that asks the customer for an account', 'the customer answered within the tolerance', () => ({
    ledger: refunded({ status: 'requires_action' }, { method: 'konbini', currency: 'jpy' })
      .move(3 * MINUTE, REFUND, 'pending')
      .move(4 * MINUTE, REFUND, 'succeeded'),
    params: named({ currency: 'jpy' }),
  })),
  row(TRUE, 'a refund of a bank debit', 'payments other than by card have ids of their own', () => ({
    ledger: books()
      .charge(-9 * DAY, { id: idOf('py', 'a debit'), amount: 4900, ...debit })
      .refund(0, { id: DEBIT_REFUND, charge: idOf('py', 'a debit'), status: 'pending' })
      .move(2 * MINUTE, DEBIT_REFUND, 'succeeded'),
    params: named({ refund: DEBIT_REFUND, charge: idOf('py', 'a debit') }),
  })),
  row(TRUE, 'a partial refund', 'its amount is its own, not that of the charge', () => ({
    ledger: refunded({ amount: 1200 }),
    params: named({ amount: 1200, charge: CHARGE }),
  })),
  row(TRUE, 'the first of two refunds of a charge', 'each is an object of its own', () => ({
    ledger: refunded({ amount: 1200 }).refund(30 * SECOND, { id: OTHER_REFUND, charge: CHARGE, amount: 3700 }),
    params: named({ amount: 1200, charge: CHARGE }),
    claimedMs: 40 * SECOND,
  })),
  row(TRUE, 'the second of two refunds of a charge', 'each is an object of its own', () => ({
    ledger: refunded({ amount: 1200 }).refund(30 * SECOND, { id: OTHER_REFUND, charge: CHARGE, amount: 3700 }),
    params: named({ refund: OTHER_REFUND, amount: 3700, charge: CHARGE }),
    claimedMs: 40 * SECOND,
  })),
  row(TRUE, 'a second refund of the same amount', 'two of one amount are two refunds', () => ({
    ledger: refunded({ amount: 1000 }).refund(5 * SECOND, { id: OTHER_REFUND, charge: CHARGE, amount: 1000 }),
    params: named({ refund: OTHER_REFUND, amount: 1000 }),
    claimedMs: 6 * SECOND,
  })),
  row(TRUE, 'an idempotent request that was sent again', 'the replay answered the same refund', () => ({
    ledger: refunded(),
    params,
    claimedMs: 50 * SECOND,
  })),
  row(TRUE, "a refund of a connected account's charge", 'the platform reads it with Stripe-Account', () => ({
    ledger: refunded({}, { account: SELLER }),
    params,
    connection: { connected_account: SELLER },
    key: { connected: [SELLER, OTHER_SHOP] },
  })),
  row(TRUE, 'a refund of a destination charge', 'such a charge is the own one of the platform', () => ({
    ledger: refunded({}, { destination: SELLER }),
    params: named({ charge: CHARGE }),
  })),
  row(TRUE, 'yen', 'a currency without decimals counts in units', () => ({
    ledger: refunded({ amount: 2500 }, { currency: 'jpy', amount: 2500 }),
    params: named({ amount: 2500, currency: 'jpy' }),
  })),
  row(TRUE, 'dinars', 'a currency with three decimals counts in thousandths', () => ({
    ledger: refunded({ amount: 5120 }, { currency: 'kwd', amount: 5120 }),
    params: named({ amount: 5120, currency: 'kwd' }),
  })),
  row(TRUE, 'the currency in upper case', 'USD is usd', () => ({
    ledger: refunded(),
    params: named({ currency: 'USD' }),
  })),
  row(TRUE, 'of the test mode, claimed as such', 'the claim says that it is a test', () => ({
    ledger: refunded({}, { mode: 'test' }),
    params: named({ mode: 'test' }),
    connection: { mode: 'test' },
  })),
  row(TRUE, 'claimed as live in words', 'live is what a claim without a mode means, too', () => ({
    ledger: refunded(),
    params: named({ mode: 'live' }),
  })),
  row(TRUE, 'claimed ten minutes after', 'it was there before', () => ({
    ledger: refunded(),
    params,
    claimedMs: 10 * MINUTE,
  })),
  row(TRUE, 'submitted four minutes after', 'the look is within the tolerance', () => ({
    ledger: refunded(),
    params,
    submittedMs: 4 * MINUTE,
  })),
  row(TRUE, 'claimed by another, too, an hour later', 'two claims can be about one refund', () => ({
    ledger: refunded(),
    params,
    claimedMs: HOUR,
  })),
  row(TRUE, 'claimed two minutes before it, by a clock that is behind', 'it was made within the tolerance', () => ({
    ledger: refunded(),
    params,
    claimedMs: -2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'claimed for two minutes ahead', 'it was there before', () => ({
    ledger: refunded(),
    params,
    claimedMs: 2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'not found for some seconds', 'a replica that lags is no absence', () => ({
    ledger: refunded(),
    params,
    lag: { byMs: 20 * SECOND, untilMs: 20 * SECOND },
  })),
  row(TRUE, 'limited for three minutes', 'a limit says nothing', () => ({
    ledger: refunded(),
    params,
    instead: instead(LIMITED, { untilMs: 3 * MINUTE }),
  })),
  row(TRUE, 'locked for half a minute', 'another request works with the charge', () => ({
    ledger: refunded(),
    params,
    instead: instead(LOCKED, { untilMs: 30 * SECOND }),
  })),
  row(TRUE, 'Stripe in trouble for two minutes', 'an error says nothing', () => ({
    ledger: refunded(),
    params,
    instead: instead(BROKEN, { untilMs: 2 * MINUTE }),
  })),
  row(TRUE, 'an account whose version is of 2014', 'the verifier names the version that it reads', () => ({
    ledger: refunded(),
    params: named({ charge: CHARGE }),
    version: '2014-12-08',
  })),
  row(TRUE, 'an authorization that was let go', 'Stripe keeps it as a refund that succeeded', () => ({
    ledger: books()
      .charge(-2 * DAY, { id: CHARGE, amount: 4900, capture: false })
      .release(0, CHARGE, REFUND),
    params: named({ charge: CHARGE }),
  })),
  row(TRUE, 'disputed after the refund', 'the refund stays as it is', () => ({
    ledger: refunded({ amount: 1200 }).dispute(20 * SECOND, CHARGE),
    params: named({ amount: 1200 }),
    claimedMs: 30 * SECOND,
  })),
  row(
    TRUE,
    'of a charge that was captured partially',
    'what was not captured counts as refunded, under another id',
    () => ({
      ledger: books()
        .charge(-2 * DAY, { id: CHARGE, amount: 4900, capture: false })
        .capture(-DAY, CHARGE, 4000)
        .refund(0, { id: REFUND, charge: CHARGE, amount: 4000 }),
      params: named({ amount: 4000, charge: CHARGE }),
    }),
  ),
]

const FALSE: readonly Row[] = [
  // It did not succeed, or not for good.
  row(NOT_DONE, 'pending until the deadline', 'it can still succeed, and did not', () => ({
    ledger: refunded({ status: 'pending' }),
    params,
  })),
  row(NOT_DONE, 'requires an action of the customer until the deadline', 'the customer does nothing', () => ({
    ledger: refunded({ status: 'requires_action' }),
    params,
  })),
  row(['late', 'late', 'unverifiable'], 'succeeded after an hour', 'it was pending when the tolerance ended', () => ({
    ledger: refunded({ status: 'pending' }).move(HOUR, REFUND, 'succeeded'),
    params,
  })),
  row(NOT_DONE, 'failed at once', 'it may have succeeded for a moment, of which no time is left', () => ({
    ledger: refunded({ status: 'failed' }),
    params,
  })),
  row(FAILED, 'pending, then failed after six minutes', 'a dispute came before it', () => ({
    ledger: refunded({ status: 'pending' })
      .dispute(5 * MINUTE, CHARGE)
      .move(6 * MINUTE, REFUND, 'failed', 'charge_for_pending_refund_disputed'),
    params,
  })),
  row(
    ['never', 'failed', 'unverifiable'],
    'failed after half an hour of pending',
    'what is pending has given nothing back',
    () => ({
      ledger: refunded({ status: 'pending' }).move(30 * MINUTE, REFUND, 'failed', 'insufficient_funds'),
      params,
    }),
  ),
  row(FAILED, 'canceled', 'an action that was asked for was called off', () => ({
    ledger: refunded({ status: 'requires_action' }).move(MINUTE, REFUND, 'canceled'),
    params,
  })),
  row(
    ['never', 'failed', 'unverifiable'],
    'failed a day before the claim',
    'no look was needed to see it: it stays so',
    () => ({
      ledger: refunded({ at: -2 * DAY, status: 'pending' }).move(-DAY, REFUND, 'failed', 'expired_or_canceled_card'),
      params,
      submittedMs: 30 * SECOND,
    }),
  ),
  row(NOT_DONE, 'succeeded, and failed before the claim', 'nothing tells when it failed', () => ({
    ledger: refunded().move(30 * SECOND, REFUND, 'failed', 'expired_or_canceled_card'),
    params,
    claimedMs: MINUTE,
  })),
  row(
    ['in time', 'verified', 'unverifiable'],
    'succeeded, then failed three minutes later',
    'it had succeeded when it was read, which is all that the receipt says',
    () => ({ ledger: refunded().move(3 * MINUTE, REFUND, 'failed', 'expired_or_canceled_card'), params }),
  ),
  row(
    ['in time', 'verified', 'unverifiable'],
    'succeeded, then failed six days later',
    'no receipt of the day can know, and its words say only what was seen',
    () => ({ ledger: refunded().move(6 * DAY, REFUND, 'failed', 'lost_or_stolen_card'), params }),
  ),

  // Another one.
  row(OTHER, 'of another amount', 'twelve are not forty-nine', () => ({ ledger: refunded({ amount: 1200 }), params })),
  row(OTHER, 'the amount in units', 'amounts are in cents', () => ({
    ledger: refunded(),
    params: named({ amount: 49 }),
  })),
  row(OTHER, 'yen in hundredths', 'yen have no decimals', () => ({
    ledger: refunded({ amount: 2500 }, { currency: 'jpy', amount: 2500 }),
    params: named({ amount: 250_000, currency: 'jpy' }),
  })),
  row(OTHER, 'dinars in hundredths', 'dinars have three decimals', () => ({
    ledger: refunded({ amount: 5120 }, { currency: 'kwd', amount: 5120 }),
    params: named({ amount: 512, currency: 'kwd' }),
  })),
  row(OTHER, 'in another currency', 'euros are no dollars', () => ({
    ledger: refunded({}, { currency: 'eur' }),
    params,
  })),
  row(OTHER, 'of another charge', 'the money of another order was given back', () => ({
    ledger: refunded().charge(MINUTE, { id: OTHER_CHARGE, amount: 4900 }),
    params: named({ charge: OTHER_CHARGE }),
    claimedMs: 2 * MINUTE,
  })),
  row(OTHER, 'the sum of two refunds', 'one refund has one amount', () => ({
    ledger: refunded({ amount: 1200 }).refund(SECOND, { id: OTHER_REFUND, charge: CHARGE, amount: 3700 }),
    params: named({ charge: CHARGE }),
    claimedMs: 2 * SECOND,
  })),
  row(
    ['other', 'mismatch', 'failed', 'unverifiable'],
    'another amount, and pending',
    'its amount cannot change any more',
    () => ({ ledger: refunded({ amount: 1200, status: 'pending' }), params }),
  ),

  // Elsewhere, or nowhere.
  row(FAILED, 'never created', 'the account and the mode were read, and do not have it', () => ({
    ledger: paid(),
    params,
  })),
  row(NOT_DONE, 'never created, claimed an hour ago', 'Stripe has no log of what was never there', () => ({
    ledger: paid(),
    params,
    submittedMs: HOUR,
  })),
  row(['never', 'failed', 'unverifiable'], 'of another account', 'the claimed account does not have it', () => ({
    ledger: refunded({}, { account: OTHER_SHOP }),
    params,
  })),
  row(
    ['never', 'failed', 'unverifiable'],
    'of a connected account, claimed of the platform',
    'it lives elsewhere',
    () => ({
      ledger: refunded({}, { account: SELLER }),
      params,
      key: { connected: [SELLER] },
    }),
  ),
  row(['never', 'failed', 'unverifiable'], 'a test told as live', 'the live mode does not have it', () => ({
    ledger: refunded({}, { mode: 'test' }),
    params,
  })),
  row(
    ['other', 'unverifiable', 'mismatch', 'refused'],
    'a test told as live, to a connection of the test mode',
    'the claim means the live mode, which nothing reads here',
    () => ({ ledger: refunded({}, { mode: 'test' }), params, connection: { mode: 'test' } }),
  ),
  row(
    ['other', 'unverifiable', 'mismatch', 'refused'],
    'a live refund claimed as a test',
    'the claim means the test mode, which nothing reads here',
    () => ({ ledger: refunded(), params: named({ mode: 'test' }) }),
  ),
  row(
    ['unknowable', 'unverifiable'],
    'a key of the test mode in a connection that says live',
    'it reads tests',
    () => ({
      ledger: refunded({}, { mode: 'test' }),
      params,
      key: { mode: 'test' },
    }),
  ),
  row(
    ['in time', 'unverifiable'],
    'a key of the test mode in a connection that says live, nothing there',
    'what the test mode lacks may be live',
    () => ({ ledger: refunded(), params, key: { mode: 'test' } }),
  ),
  row(['never', 'refused', 'failed', 'unverifiable'], 'the id of a charge', 'a charge is no refund', () => ({
    ledger: refunded(),
    params: named({ refund: CHARGE }),
  })),

  // At another time.
  row(
    ['in time', 'verified', 'unverifiable'],
    'made three months before the claim',
    'the receipt says that it was there long before',
    () => ({
      ledger: books()
        .charge(-120 * DAY, { id: CHARGE, amount: 4900 })
        .refund(-90 * DAY, { id: REFUND, charge: CHARGE }),
      params,
      facts: { preexisting: true },
    }),
  ),
  row(LATE, 'made after the tolerance', "its creation is Stripe's own time", () => ({
    ledger: refunded({ at: 25 * MINUTE }),
    params,
  })),
  row(
    ['late', 'late', 'unverifiable'],
    'made after the tolerance, of which nobody looked before',
    'the creation alone tells it',
    () => ({ ledger: refunded({ at: 2 * HOUR }), params, submittedMs: 3 * HOUR }),
  ),
  row(
    ['late', 'unverifiable', 'late'],
    'pending for two hours, submitted after three',
    'only its creation has a time, and not its success',
    () => ({
      ledger: refunded({ status: 'pending' }).move(2 * HOUR, REFUND, 'succeeded'),
      params,
      submittedMs: 3 * HOUR,
    }),
  ),
  row(
    ['in time', 'unverifiable', 'verified'],
    'submitted three hours after',
    'only its creation has a time, and not its success',
    () => ({ ledger: refunded(), params, submittedMs: 3 * HOUR }),
  ),

  // A key that may not see it, or is another's.
  row(TRUE_UNTOLD, 'a key without the right to read charges and refunds', 'a refusal is no absence', () => ({
    ledger: refunded(),
    params,
    key: { rights: ['rak_accounts_kyc_basic_read'] },
  })),
  row(TRUE_UNTOLD, 'a key that reads refunds and no charges', 'a refund does not say whether it is a test', () => ({
    ledger: refunded(),
    params,
    key: { rights: ['rak_refund_read', 'rak_accounts_kyc_basic_read'] },
  })),
  row(TRUE, 'a key that does not read its account', 'the refusal names the account', () => ({
    ledger: refunded(),
    params,
    key: { rights: ['rak_charge_read', 'rak_refund_read'] },
  })),
  row(
    TRUE_UNTOLD,
    'a key that does not read its account, which nothing names',
    'nothing says whose refund it is',
    () => ({
      ledger: refunded(),
      params,
      key: { rights: ['rak_charge_read', 'rak_refund_read'] },
      instead: ({ path }) => (path.startsWith('/v1/account') ? NO_PERMISSION : undefined),
    }),
  ),
  row(UNKNOWABLE, 'a gateway that drops Stripe-Account', 'it reads the books of the platform', () => ({
    ledger: refunded(),
    params,
    connection: { connected_account: SELLER },
    dropsAccount: true,
  })),
  row(
    ['in time', 'unverifiable'],
    'a key of the test mode in a connection that says live, without a hint',
    'what the test mode lacks may be live',
    () => ({
      ledger: books()
        .charge(-9 * DAY, { id: OTHER_CHARGE, amount: 4900, mode: 'test' })
        .charge(-3 * DAY, { id: CHARGE, amount: 4900 })
        .refund(0, { id: REFUND, charge: CHARGE }),
      params,
      key: { mode: 'test' },
      instead: ({ path }) => (path.startsWith('/v1/refunds/') ? NO_SUCH_REFUND : undefined),
    }),
  ),
  row(UNKNOWABLE, 'a key of another account, which does not read its account', 'it reads the books of another', () => ({
    ledger: refunded({}, { account: OTHER_SHOP }),
    params,
    key: { account: OTHER_SHOP, rights: ['rak_charge_read', 'rak_refund_read'] },
  })),
  row(UNKNOWABLE, 'a key of another account, which nothing names', 'it reads the books of another', () => ({
    ledger: refunded({}, { account: OTHER_SHOP }),
    params,
    key: { account: OTHER_SHOP, rights: ['rak_charge_read', 'rak_refund_read'] },
    instead: ({ path }) => (path.startsWith('/v1/account') ? NO_PERMISSION : undefined),
  })),
  row(UNKNOWABLE, 'a key of another account than the connection says', 'it reads the books of another', () => ({
    ledger: refunded({}, { account: OTHER_SHOP }),
    params,
    key: { account: OTHER_SHOP },
  })),
  row(
    ['in time', 'unverifiable'],
    'a key of another account, which lacks it',
    'the other books do not say what the own ones have',
    () => ({ ledger: refunded(), params, key: { account: OTHER_SHOP } }),
  ),
  row(
    ['in time', 'unverifiable'],
    'a connected account that took its permission back',
    'a refusal is no absence',
    () => ({
      ledger: refunded({}, { account: SELLER }),
      params,
      connection: { connected_account: SELLER },
      key: { connected: [OTHER_SHOP] },
    }),
  ),
  row(['in time', 'unverifiable'], 'a key without rights for Connect', 'a refusal is no absence', () => ({
    ledger: refunded({}, { account: SELLER }),
    params,
    connection: { connected_account: SELLER },
    key: { connected: undefined },
  })),
  row(['in time', 'unverifiable'], 'a key that has expired', 'a refused key sees nothing', () => ({
    ledger: refunded(),
    params,
    key: { expiresAt: 0 },
  })),

  // What stands between.
  ...[
    [BROKEN, 'Stripe in trouble'],
    [DOWN, 'Stripe down'],
    [LIMITED, 'limited'],
    [SIGN_IN, 'the page of a proxy'],
    [FILTERED, 'a filter that finds no page'],
    [NO_ROUTE, 'a gateway without a route'],
    [UNKNOWN_PATH, 'a path that Stripe does not know'],
    [EMPTY, 'an empty object'],
    [TOO_OLD, 'a version that Stripe does not take'],
  ].map(([answer, what]) =>
    row(
      ['in time', 'unverifiable'],
      `${what as string} for the whole life`,
      'it tells neither presence nor absence',
      () => ({
        ledger: refunded(),
        params,
        instead: instead(answer as typeof BROKEN),
      }),
    ),
  ),
  row(
    ['in time', 'unverifiable', 'verified'],
    'Stripe down until after the tolerance',
    'the success may have come after it',
    () => ({ ledger: refunded(), params, instead: instead(DOWN, { untilMs: 20 * MINUTE }) }),
  ),
]

export const REFUNDS: readonly Row[] = [...HONEST, ...FALSE]
