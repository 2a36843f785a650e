/** Reads a refund at Stripe, and the charge that it refunds, which tells the mode. */
import { type CheckContext, type Claim, DestinationError, type Observation, windowStart } from '@claimcheck/core/plugin'
import { type RefundFacts, type RefundParams, refundProfile } from '../refund.ts'
import {
  accountFacts,
  createdFacts,
  identityOf,
  modeOf,
  openStripe,
  type Refund,
  reportMissing,
  wordOf,
} from './api.ts'
import type { Options } from './connection.ts'

export async function checkRefund(
  claim: Claim<RefundParams>,
  context: CheckContext,
): Promise<Observation<RefundFacts>> {
  const { params } = claim
  const options = context.connection!.options as Options
  const stripe = openStripe(options, context)
  const told = await stripe.account()
  const found = await stripe.findRefund(params.refund)
  if (!found.value) return reportMissing(stripe, told, found, options.mode)
  const refund = found.value
  // A refund does not tell its mode, and one without a charge leaves it open.
  if (!refund.charge) throw new DestinationError('ambiguous_claim')
  const { value: charge } = await stripe.findCharge(refund.charge)
  if (!charge) throw new DestinationError('forbidden', { status: 404 })

  const mode = modeOf(charge)
  const failure_reason = wordOf(refund.failure_reason)
  const facts: RefundFacts = {
    ...accountFacts(told),
    ...createdFacts(refund.created, found.headers, claim, context.now(), refundProfile.toleranceMs),
    mode,
    refund: refund.id,
    status: wordOf(refund.status),
    found_amount: refund.amount,
    found_currency: refund.currency,
    found_charge: charge.id,
    ...(failure_reason && { failure_reason }),
  }
  const seen = { amount: refund.amount, currency: refund.currency, charge: charge.id }
  const differs = (['amount', 'currency', 'charge'] as const).filter(
    (name) => params[name] !== undefined && params[name] !== seen[name],
  )
  const read = { facts, identity: identityOf(told, mode) }
  // None of these ever changes, whatever becomes of the refund.
  if (differs.length > 0) return { kind: 'present', differs, mark: 'final', ...read }
  if (refund.status === 'succeeded') return { kind: 'present', differs: [], ...read }
  return { kind: 'absent', ...(mayHaveSucceeded(refund, claim, context) && { mark: 'may_have_been' }), ...read }
}

/**
 * Tells whether a refund that is over may have succeeded in the time that the claim can mean: it is that young, its money moved, and no earlier
 * read saw it before its end.
 */
function mayHaveSucceeded(
  { status, created, balance_transaction, failure_balance_transaction }: Refund,
  claim: Claim<RefundParams>,
  { previous }: CheckContext,
): boolean {
  const isOver = status === 'failed' || status === 'canceled'
  const wasOpen = previous.some(({ observation }) => OPEN.includes(observation.facts.status))
  const moved = Boolean(balance_transaction ?? failure_balance_transaction)
  return isOver && moved && !wasOpen && created * 1000 + 999 >= windowStart(claim)
}

const OPEN: readonly unknown[] = ['pending', 'requires_action']
