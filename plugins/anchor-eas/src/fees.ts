/** Chooses a transaction's fees: enough for the next blocks, more than the transaction that it replaces, and at most the operator's ceiling. */
import { AnchorerError, type SignedAnchor } from '@claimcheck/core/plugin'

/** Fees in wei for a unit of gas. */
export interface Fees {
  readonly maxFee: bigint
  readonly priorityFee: bigint
}

/** The fees that the chain asks for now, in wei for a unit of gas. */
export interface Market {
  readonly baseFee: bigint
  readonly priorityFee: bigint
}

/**
 * Chooses the fees of a transaction.
 * @param replaced the transaction that this one replaces
 * @param ceiling the highest `maxFee`, in wei for a unit of gas
 * @throws AnchorerError `fee_ceiling` if the ceiling is too low
 */
export function chooseFees(
  market: Market,
  replaced: Pick<SignedAnchor, 'maxFee' | 'priorityFee'> | undefined,
  ceiling: bigint,
): Fees {
  const last = replaced && { maxFee: BigInt(replaced.maxFee), priorityFee: BigInt(replaced.priorityFee) }
  const priorityFee = larger(market.priorityFee, last ? raised(last.priorityFee, 4n) : 0n)
  const least = larger(market.baseFee + priorityFee, last ? raised(last.maxFee, 4n) : 0n)
  // The highest fee is twice the base fee, which takes at least six full blocks to double (EIP-1559).
  const maxFee = smaller(larger(2n * market.baseFee + priorityFee, least), ceiling)
  if (maxFee >= least) return { maxFee, priorityFee }

  // The last raise, up to the ceiling, may be less than a quarter. Nodes accept replacements from a tenth on.
  const isEnough = maxFee >= market.baseFee + market.priorityFee
  if (last && isEnough && maxFee >= raised(last.maxFee, 10n)) {
    return { maxFee, priorityFee: smaller(priorityFee, maxFee) }
  }
  throw new AnchorerError('fee_ceiling', `a unit of gas costs ${least} wei, and at most ${ceiling} wei are allowed`)
}

/** Raises a fee by the fraction, and by at least 1 wei. */
function raised(fee: bigint, fraction: bigint): bigint {
  return fee + fee / fraction + 1n
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
