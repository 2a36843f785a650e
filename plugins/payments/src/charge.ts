/** The profile of the action `payment.charge.succeed`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'
import {
  access,
  amount,
  commonFacts,
  commonWords,
  countFact,
  currency,
  flag,
  idFact,
  idParam,
  MINUTE_MS,
  mode,
  target,
  wordFact,
} from './fields.ts'

const Params = Type.Object(
  {
    charge: idParam('Charge', 'ch|py', {
      help: 'enter the id of the charge, which begins with ch_ or py_, not that of a payment intent',
      description: 'The id of the charge.',
      example: 'ch_3MmlLrLkdIwHu7ix0snN0B15',
    }),
    amount: amount('The amount that was captured, which may be less than was authorized.'),
    currency,
    mode,
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    ...commonFacts,
    charge: idFact('Charge', 'ch|py', 'The charge that the provider showed.'),
    status: wordFact('Status', 'The status of the charge at the time of the read.'),
    captured: Type.Optional(
      Type.Boolean({
        title: 'Captured',
        description: 'Whether it was captured. A charge of which the money was only reserved succeeded, too.',
      }),
    ),
    found_amount: countFact('Amount found', 'The amount that was captured, in the smallest unit.'),
    found_currency: wordFact('Currency found', 'The currency of the charge.'),
    amount_authorized: countFact(
      'Amount authorized',
      'The amount of the charge before it was captured, where that is another.',
    ),
    amount_refunded: countFact('Amount refunded', 'The amount that has been refunded since.'),
    refunded: flag('Refunded', 'All of it has been refunded, or what was reserved has been released.'),
    disputed: flag('Disputed', 'It has been disputed.'),
    failure_code: wordFact('Reason', 'Why the charge failed, as the provider tells it.'),
  },
  { additionalProperties: false },
)

export type ChargeParams = Static<typeof Params>
export type ChargeFacts = Static<typeof Facts>

export const chargeProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'payment.charge.succeed',
  version: '1',
  rulesVersion: 2,
  summary: 'A charge succeeded and was captured, with its amount.',
  words: {
    title: 'Charge',
    target: 'Account',
    claim: 'Charge {charge} at {target} succeeded, and {amount} {currency} in the smallest unit were captured.',
    outcomes: {
      verified:
        'Charge {charge} at {target} had succeeded when it was read, and {amount} {currency} in the smallest unit were captured.',
      late: 'Charge {charge} at {target}, of {amount} {currency} in the smallest unit, succeeded or was captured too late.',
      mismatch: 'Of charge {charge} at {target}, {found_amount} {found_currency} in the smallest unit were captured.',
      failed: 'Charge {charge} at {target} had not succeeded and been captured by the deadline.',
    },
    facts: {
      status: {
        pending: 'It was pending.',
        failed: ['It had failed: {failure_code}.', 'It had failed.'],
      },
      captured: { false: 'It was not captured.' },
      amount_authorized: '{amount_authorized} {found_currency} had been authorized.',
      amount_refunded: '{amount_refunded} {found_currency} of it had been refunded, or released, by then.',
      disputed: { true: 'It had been disputed by then.' },
      ...commonWords,
    },
    found: { amount: 'found_amount', currency: 'found_currency' },
  },
  target,
  params: Params,
  facts: Facts,
  required: { charge: 'target', mode: 'target', amount: 'content', currency: 'content' },
  shows: { status: 'succeeded', captured: true },
  compared: {
    target: { fact: 'account', as: 'exact' },
    charge: { fact: 'charge', as: 'exact' },
    mode: { fact: 'mode', as: 'exact', default: 'live' },
    amount: { fact: 'found_amount', as: 'exact' },
    currency: { fact: 'found_currency', as: 'exact' },
  },
  past: ['created'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 60 * MINUTE_MS,
  maxDeadlineMs: 14 * 24 * 60 * MINUTE_MS,
  access,
}
