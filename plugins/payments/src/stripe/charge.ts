/** Reads a charge at Stripe. */
import type { CheckContext, Claim, Mark, Observation } from '@claimcheck/core/plugin'
import { type ChargeFacts, type ChargeParams, chargeProfile } from '../charge.ts'
import {
  accountFacts,
  type Charge,
  createdFacts,
  identityOf,
  modeOf,
  openStripe,
  reportMissing,
  wordOf,
} from './api.ts'
import type { Options } from './connection.ts'

export async function checkCharge(
  claim: Claim<ChargeParams>,
  context: CheckContext,
): Promise<Observation<ChargeFacts>> {
  const { params } = claim
  const options = context.connection!.options as Options
  const stripe = openStripe(options, context)
  const told = await stripe.account()
  const found = await stripe.findCharge(params.charge)
  if (!found.value) return reportMissing(stripe, told, found, options.mode)
  const charge = found.value

  const failure_code = wordOf(charge.failure_code)
  const facts: ChargeFacts = {
    ...accountFacts(told),
    ...createdFacts(charge.created, found.headers, claim, context.now(), chargeProfile.toleranceMs),
    mode: modeOf(charge),
    charge: charge.id,
    status: wordOf(charge.status),
    captured: charge.captured,
    found_amount: charge.amount_captured,
    found_currency: charge.currency,
    ...(charge.amount !== charge.amount_captured && { amount_authorized: charge.amount }),
    ...(charge.amount_refunded > 0 && { amount_refunded: charge.amount_refunded }),
    ...(charge.refunded && { refunded: true }),
    ...(charge.disputed && { disputed: true }),
    ...(failure_code && { failure_code }),
  }
  const read = { facts, identity: identityOf(told, modeOf(charge)) }
  if (charge.status !== 'succeeded' || !charge.captured) {
    const mark = markOfUndone(charge)
    return { kind: 'absent', ...(mark && { mark }), ...read }
  }
  const seen = { amount: charge.amount_captured, currency: charge.currency }
  const differs = (['amount', 'currency'] as const).filter((name) => params[name] !== seen[name])
  // A currency never changes. Of some charges several parts can be captured, one after the other.
  return { kind: 'present', differs, ...(differs.includes('currency') && { mark: 'final' }), ...read }
}

/** The mark of a charge that is not done: one that failed, or whose reserved money was released, never will be. */
function markOfUndone({
  status,
  captured,
  amount_captured,
  refunded,
  failure_balance_transaction,
}: Charge): Mark | undefined {
  // Money that came back had been there.
  if (status === 'failed') return failure_balance_transaction ? 'may_have_been' : 'final'
  const isReleased = status === 'succeeded' && !captured && refunded && amount_captured === 0
  return isReleased ? 'final' : undefined
}
