/** Which block is the newest that stays. */
import { AnchorerError } from '@claimcheck/core'
import type { Node } from './node.ts'
import { latestBlock } from './transaction.ts'

/**
 * @param confirmations so many blocks on top make one final; null: the chain says itself which one is
 * @returns its number, negative before there is one
 */
export async function finalBlock(node: Node, confirmations: number | null): Promise<number> {
  if (confirmations !== null) return (await latestBlock(node)).number - confirmations
  const block = await node.block('finalized')
  if (block) return block.number
  throw new AnchorerError('unexpected_response', 'the chain has no finalized block: set confirmations')
}
