/** Claims of charges: true ones as agents make them, false ones, and those of which Stripe shows too little. */
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
import { BROKEN, DOWN, EMPTY, FILTERED, LIMITED, SIGN_IN, UNKNOWN_PATH } from './troubles.ts'

const row = rowsOf('payment.charge.succeed')

type Given = Partial<Parameters<Ledger['charge']>[1]> & { readonly at?: number }

function charged({ at = 0, ...given }: Given = {}): Ledger {
  return books().charge(at, { id: CHARGE, amount: 4900, ...given })
}

/** An authorization, which is not captured yet. */
const authorized = (given: Given = {}) => charged({ ...given, capture: false })

const named = (given: Readonly<Record<string, unknown>> = {}) => ({
  charge: CHARGE,
  amount: 4900,
  currency: 'usd',
  ...given,
})
const params = named()
const DEBIT = idOf('py', 'a debit')

const HONEST: readonly Row[] = [
  row(TRUE, 'a charge that was captured at once', 'it succeeded, and was captured', () => ({
    ledger: charged(),
    params,
  })),
  row(TRUE, 'captured two minutes later by the agent', 'it was captured within the tolerance', () => ({
    ledger: authorized().capture(2 * MINUTE, CHARGE),
    params,
  })),
  row(TRUE, 'authorized a day before, captured now', 'the deed is the capture', () => ({
    ledger: authorized({ at: -DAY }).capture(0, CHARGE),
    params,
  })),
  row(TRUE, 'captured partially, claimed so', 'the amount is what was captured', () => ({
    ledger: authorized().capture(SECOND, CHARGE, 4000),
    params: named({ amount: 4000 }),
    claimedMs: 2 * SECOND,
  })),
  row(TRUE, 'partially refunded since', 'what was captured stays so', () => ({
    ledger: charged().refund(10 * SECOND, { id: REFUND, charge: CHARGE, amount: 1200 }),
    params,
    claimedMs: 20 * SECOND,
  })),
  row(TRUE, 'a bank debit that is pending for three minutes', 'it succeeded within the tolerance', () => ({
    ledger: books()
      .charge(0, { id: DEBIT, amount: 4900, method: 'us_bank_account', status: 'pending' })
      .settle(3 * MINUTE, DEBIT, 'succeeded'),
    params: named({ charge: DEBIT }),
  })),
  row(TRUE, "a connected account's charge", 'the platform reads it with Stripe-Account', () => ({
    ledger: charged({ account: SELLER }),
    params,
    connection: { connected_account: SELLER },
  })),
  row(TRUE, 'a destination charge', 'it is the own one of the platform', () => ({
    ledger: charged({ destination: SELLER }),
    params,
  })),
  row(TRUE, 'yen', 'a currency without decimals counts in units', () => ({
    ledger: charged({ amount: 2500, currency: 'jpy' }),
    params: named({ amount: 2500, currency: 'jpy' }),
  })),
  row(TRUE, 'dinars', 'a currency with three decimals counts in thousandths', () => ({
    ledger: charged({ amount: 5120, currency: 'kwd' }),
    params: named({ amount: 5120, currency: 'kwd' }),
  })),
  row(TRUE, 'the currency in upper case', 'USD is usd', () => ({
    ledger: charged(),
    params: named({ currency: 'USD' }),
  })),
  row(TRUE, 'of the test mode, claimed as such', 'the claim says that it is a test', () => ({
    ledger: charged({ mode: 'test' }),
    params: named({ mode: 'test' }),
    connection: { mode: 'test' },
  })),
  row(TRUE, 'claimed ten minutes after', 'it was there before', () => ({
    ledger: charged(),
    params,
    claimedMs: 10 * MINUTE,
  })),
  row(TRUE, 'claimed two minutes before it, by a clock that is behind', 'it was made within the tolerance', () => ({
    ledger: charged(),
    params,
    claimedMs: -2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'claimed for two minutes ahead', 'it was there before', () => ({
    ledger: charged(),
    params,
    claimedMs: 2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'not found for some seconds', 'a replica that lags is no absence', () => ({
    ledger: charged(),
    params,
    lag: { byMs: 20 * SECOND, untilMs: 20 * SECOND },
  })),
  row(TRUE, 'limited for three minutes', 'a limit says nothing', () => ({
    ledger: charged(),
    params,
    instead: instead(LIMITED, { untilMs: 3 * MINUTE }),
  })),
  row(TRUE, 'an account whose version is of 2014', 'the verifier names the version that it reads', () => ({
    ledger: charged(),
    params,
    version: '2014-12-08',
  })),
  row(TRUE, 'a key that reads charges and no refunds', 'a charge needs no more', () => ({
    ledger: charged(),
    params,
    key: { rights: ['rak_charge_read', 'rak_accounts_kyc_basic_read'] },
  })),
]

const FALSE: readonly Row[] = [
  // It was not paid, or not taken.
  row(NOT_DONE, 'authorized, and never captured', 'succeeded and not captured has taken nothing', () => ({
    ledger: authorized(),
    params,
  })),
  row(['late', 'late', 'unverifiable'], 'captured after an hour', 'it was only authorized in time', () => ({
    ledger: authorized().capture(HOUR, CHARGE),
    params,
  })),
  row(
    ['never', 'failed', 'unverifiable'],
    'an authorization that was let go',
    'it counts as refunded, and nothing was taken',
    () => ({ ledger: authorized({ at: -DAY }).release(-HOUR, CHARGE, REFUND), params }),
  ),
  row(FAILED, 'declined', 'what failed stays so', () => ({
    ledger: charged({ status: 'failed', failureCode: 'card_declined' }),
    params,
  })),
  row(NOT_DONE, 'a bank debit that is pending until the deadline', 'it can still fail', () => ({
    ledger: charged({ method: 'us_bank_account', status: 'pending' }),
    params,
  })),
  row(FAILED, 'a bank debit that failed after five minutes', 'what failed stays so', () => ({
    ledger: charged({ method: 'us_bank_account', status: 'pending' }).settle(5 * MINUTE, CHARGE, 'failed'),
    params,
  })),
  row(
    ['late', 'late', 'unverifiable'],
    'a bank debit that succeeded after an hour',
    'it was pending when the tolerance ended',
    () => ({
      ledger: charged({ method: 'us_bank_account', status: 'pending' }).settle(HOUR, CHARGE, 'succeeded'),
      params,
    }),
  ),

  // It was, and is no longer whole.
  row(
    ['in time', 'verified', 'unverifiable'],
    'disputed since',
    'the charge succeeded, and the receipt says that it is disputed',
    () => ({
      ledger: charged().dispute(10 * SECOND, CHARGE),
      params,
      claimedMs: 20 * SECOND,
      facts: { disputed: true },
    }),
  ),
  row(
    ['in time', 'verified', 'unverifiable'],
    'refunded in full since',
    'the charge succeeded, and the receipt says what was given back',
    () => ({
      ledger: charged().refund(10 * SECOND, { id: REFUND, charge: CHARGE }),
      params,
      claimedMs: 20 * SECOND,
      facts: { amount_refunded: 4900 },
    }),
  ),

  // Another one.
  row(OTHER, 'captured partially, claimed in full', 'less was taken than was authorized', () => ({
    ledger: authorized().capture(SECOND, CHARGE, 4000),
    params,
    claimedMs: 2 * SECOND,
  })),
  row(OTHER, 'of another amount', 'twelve are not forty-nine', () => ({ ledger: charged({ amount: 1200 }), params })),
  row(OTHER, 'the amount in units', 'amounts are in cents', () => ({
    ledger: charged(),
    params: named({ amount: 49 }),
  })),
  row(OTHER, 'yen in hundredths', 'yen have no decimals', () => ({
    ledger: charged({ amount: 2500, currency: 'jpy' }),
    params: named({ amount: 250_000, currency: 'jpy' }),
  })),
  row(OTHER, 'in another currency', 'euros are no dollars', () => ({ ledger: charged({ currency: 'eur' }), params })),
  row(OTHER, 'what is left after a refund', 'the amount is what was captured, not what was kept', () => ({
    ledger: charged().refund(10 * SECOND, { id: REFUND, charge: CHARGE, amount: 1200 }),
    params: named({ amount: 3700 }),
    claimedMs: 20 * SECOND,
  })),

  // Elsewhere, or nowhere.
  row(FAILED, 'never created', 'the account and the mode were read, and do not have it', () => ({
    ledger: books().charge(-DAY, { id: OTHER_CHARGE, amount: 4900 }),
    params,
  })),
  row(NOT_DONE, 'never created, by an account without any charge', 'nothing shows the mode of the key', () => ({
    ledger: books(),
    params,
  })),
  row(NOT_DONE, 'never created, claimed an hour ago', 'Stripe has no log of what was never there', () => ({
    ledger: books(),
    params,
    submittedMs: HOUR,
  })),
  row(['never', 'failed', 'unverifiable'], 'of another account', 'the claimed account does not have it', () => ({
    ledger: charged({ account: OTHER_SHOP }),
    params,
  })),
  row(['never', 'failed', 'unverifiable'], 'a test told as live', 'the live mode does not have it', () => ({
    ledger: charged({ mode: 'test' }),
    params,
  })),
  row(
    ['other', 'unverifiable', 'mismatch', 'refused'],
    'a test told as live, to a connection of the test mode',
    'the claim means the live mode, which nothing reads here',
    () => ({ ledger: charged({ mode: 'test' }), params, connection: { mode: 'test' } }),
  ),
  row(UNKNOWABLE, 'a key of the test mode in a connection that says live', 'it reads tests', () => ({
    ledger: charged({ mode: 'test' }),
    params,
    key: { mode: 'test' },
  })),
  row(['never', 'refused', 'failed', 'unverifiable'], 'the id of a payment intent', 'an intent is no charge', () => ({
    ledger: charged(),
    params: named({ charge: idOf('pi', CHARGE) }),
  })),

  // At another time.
  row(
    ['in time', 'verified', 'unverifiable'],
    'made three months before the claim',
    'the receipt says that it was there long before',
    () => ({ ledger: charged({ at: -90 * DAY }), params, facts: { preexisting: true } }),
  ),
  row(LATE, 'made after the tolerance', "its creation is Stripe's own time", () => ({
    ledger: books()
      .charge(-DAY, { id: OTHER_CHARGE, amount: 4900 })
      .charge(25 * MINUTE, { id: CHARGE, amount: 4900 }),
    params,
  })),
  row(
    ['late', 'unverifiable', 'late'],
    'captured after two hours, submitted after three',
    'only its creation has a time, and not its capture',
    () => ({ ledger: authorized().capture(2 * HOUR, CHARGE), params, submittedMs: 3 * HOUR }),
  ),

  // A key that may not see it, or is another's.
  row(TRUE_UNTOLD, 'a key without the right to read charges', 'a refusal is no absence', () => ({
    ledger: charged(),
    params,
    key: { rights: ['rak_refund_read', 'rak_accounts_kyc_basic_read'] },
  })),
  row(TRUE, 'a key that does not read its account', 'the refusal names the account', () => ({
    ledger: charged(),
    params,
    key: { rights: ['rak_charge_read', 'rak_refund_read'] },
  })),
  row(UNKNOWABLE, 'a key of another account than the connection says', 'it reads the books of another', () => ({
    ledger: charged({ account: OTHER_SHOP }),
    params,
    key: { account: OTHER_SHOP },
  })),
  row(
    ['in time', 'unverifiable'],
    'a key of another account, which lacks it',
    'the other books do not say what the own ones have',
    () => ({ ledger: charged(), params, key: { account: OTHER_SHOP } }),
  ),

  // What stands between.
  ...[
    [BROKEN, 'Stripe in trouble'],
    [DOWN, 'Stripe down'],
    [SIGN_IN, 'the page of a proxy'],
    [FILTERED, 'a filter that finds no page'],
    [UNKNOWN_PATH, 'a path that Stripe does not know'],
    [EMPTY, 'an empty object'],
  ].map(([answer, what]) =>
    row(
      ['in time', 'unverifiable'],
      `${what as string} for the whole life`,
      'it tells neither presence nor absence',
      () => ({
        ledger: charged(),
        params,
        instead: instead(answer as typeof BROKEN),
      }),
    ),
  ),
]

export const CHARGES: readonly Row[] = [...HONEST, ...FALSE]
