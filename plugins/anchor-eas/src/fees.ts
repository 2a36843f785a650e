/** What a transaction offers for its gas: enough for the next blocks, more than what it replaces, and never above the operator's ceiling. */
import { AnchorerError, type SignedAnchor } from '@claimcheck/core'

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
  const leastPriority = replaced ? raised(BigInt(replaced.priorityFee)) : 0n
  const priorityFee = larger(market.priorityFee, leastPriority)
  const least = larger(market.baseFee + priorityFee, replaced ? raised(BigInt(replaced.maxFee)) : 0n)
  if (least > ceiling) {
    throw new AnchorerError('fee_ceiling', `a unit of gas costs ${least} wei, and ${ceiling} is the most that is allowed`)
  }
  // The base fee doubles in six full blocks at the soonest (EIP-1559).
  const comfortable = larger(2n * market.baseFee + priorityFee, least)
  return { maxFee: comfortable < ceiling ? comfortable : ceiling, priorityFee }
}

/** By a quarter, rounded up, and by something: nodes take a replacement only when both fees are a tenth above. */
function raised(fee: bigint): bigint {
  return fee + fee / 4n + 1n
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
