/** What a transaction offers for its gas: enough for the next blocks, more than what it replaces, and never above the operator's ceiling. */
import { AnchorerError, type SignedAnchor } from '@claimcheck/core/plugin'

/** In wei for a unit of gas. */
export interface Fees {
  readonly maxFee: bigint
  readonly priorityFee: bigint
}

export interface Market {
  readonly baseFee: bigint
  readonly priorityFee: bigint
}

/** @throws AnchorerError `fee_ceiling` */
export function chooseFees(
  market: Market,
  replaced: Pick<SignedAnchor, 'maxFee' | 'priorityFee'> | undefined,
  ceiling: bigint,
): Fees {
  const last = replaced && { maxFee: BigInt(replaced.maxFee), priorityFee: BigInt(replaced.priorityFee) }
  const priorityFee = larger(market.priorityFee, last ? raised(last.priorityFee, 4n) : 0n)
  const least = larger(market.baseFee + priorityFee, last ? raised(last.maxFee, 4n) : 0n)
  // The base fee doubles in six full blocks at the soonest (EIP-1559).
  const maxFee = smaller(larger(2n * market.baseFee + priorityFee, least), ceiling)
  if (maxFee >= least) return { maxFee, priorityFee }

  // The last step to the ceiling may be shorter than a quarter, as long as nodes take it: they want a tenth.
  const isEnough = maxFee >= market.baseFee + market.priorityFee
  if (last && isEnough && maxFee >= raised(last.maxFee, 10n)) {
    return { maxFee, priorityFee: smaller(priorityFee, maxFee) }
  }
  throw new AnchorerError('fee_ceiling', `a unit of gas costs ${least} wei, and ${ceiling} is the most that is allowed`)
}

/** By a fraction, and by something. */
function raised(fee: bigint, fraction: bigint): bigint {
  return fee + fee / fraction + 1n
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
