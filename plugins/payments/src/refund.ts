/** The profile of the action `payment.refund.succeed`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'
import {
  access,
  amount,
  commonFacts,
  commonWords,
  countFact,
  currency,
  idFact,
  idParam,
  MINUTE_MS,
  mode,
  target,
  wordFact,
} from './fields.ts'

const Params = Type.Object(
  {
    refund: idParam('Refund', 're|pyr', {
      help: 'enter the id of the refund, which begins with re_ or pyr_',
      description: 'The id of the refund.',
      example: 're_3MmlLrLkdIwHu7ix0uke3Ezy',
    }),
    amount: amount('The amount of this refund, not of all refunds of the charge.'),
    currency,
    charge: Type.Optional(
      idParam('Charge', 'ch|py', {
        help: 'enter the id of the charge, which begins with ch_ or py_, not that of a payment intent',
        description: 'The charge that was refunded.',
        example: 'ch_3MmlLrLkdIwHu7ix0snN0B15',
      }),
    ),
    mode,
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    ...commonFacts,
    refund: idFact('Refund', 're|pyr', 'The refund that the provider showed.'),
    status: wordFact('Status', 'The status of the refund at the time of the read.'),
    found_amount: countFact('Amount found', 'The amount of the refund, in the smallest unit.'),
    found_currency: wordFact('Currency found', 'The currency of the refund.'),
    found_charge: idFact('Charge found', 'ch|py', 'The charge that was refunded.'),
    failure_reason: wordFact('Reason', 'Why the refund failed, as the provider tells it.'),
  },
  { additionalProperties: false },
)

export type RefundParams = Static<typeof Params>
export type RefundFacts = Static<typeof Facts>

export const refundProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'payment.refund.succeed',
  version: '1',
  rulesVersion: 2,
  summary: 'A refund succeeded, with its amount.',
  words: {
    title: 'Refund',
    target: 'Account',
    claim: [
      'Refund {refund} of charge {charge} at {target} succeeded, of {amount} {currency} in the smallest unit.',
      'Refund {refund} at {target} succeeded, of {amount} {currency} in the smallest unit.',
    ],
    outcomes: {
      verified:
        'Refund {refund} at {target}, of {amount} {currency} in the smallest unit, had succeeded when it was read.',
      late: 'Refund {refund} at {target}, of {amount} {currency} in the smallest unit, succeeded too late.',
      mismatch:
        'Refund {refund} at {target} is of {found_amount} {found_currency} in the smallest unit, and of charge {found_charge}.',
      failed: 'Refund {refund} at {target} had not succeeded by the deadline.',
    },
    facts: {
      status: {
        succeeded: 'A refund that succeeded can still fail, weeks later.',
        pending: 'It was pending.',
        requires_action: 'It was waiting for the customer.',
        failed: ['It had failed: {failure_reason}.', 'It had failed.'],
        canceled: 'It was canceled.',
      },
      ...commonWords,
    },
    found: { amount: 'found_amount', currency: 'found_currency', charge: 'found_charge' },
  },
  target,
  params: Params,
  facts: Facts,
  required: { refund: 'target', charge: 'target', mode: 'target', amount: 'content', currency: 'content' },
  shows: { status: 'succeeded' },
  compared: {
    target: { fact: 'account', as: 'exact' },
    refund: { fact: 'refund', as: 'exact' },
    charge: { fact: 'found_charge', as: 'exact' },
    mode: { fact: 'mode', as: 'exact', default: 'live' },
    amount: { fact: 'found_amount', as: 'exact' },
    currency: { fact: 'found_currency', as: 'exact' },
  },
  past: ['created'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 24 * 60 * MINUTE_MS,
  maxDeadlineMs: 14 * 24 * 60 * MINUTE_MS,
  access,
}
