/** Which block stays: the one that the chain says itself, or, where it does not, one with enough others on top. */

import { Refusal, unexpectedResponse } from './errors.ts'
import type { Block, Node } from './node.ts'
import { latestBlock } from './transaction.ts'

/** The number of the newest block that stays; negative before there is one. @throws AnchorerError */
export async function finalBlock(node: Node, confirmations: number | null): Promise<number> {
  const block = await finalizedBlock(node)
  if (block) return block.number
  if (confirmations === null) throw unexpectedResponse('the finalized block: set confirmations, if the chain has none')
  return (await latestBlock(node)).number - confirmations
}

async function finalizedBlock(node: Node): Promise<Block | null> {
  try {
    return await node.block('finalized')
  } catch (error) {
    // Any other error may be over in a moment, and is no reason to ask for less.
    if (error instanceof Refusal && error.isAboutBlock) return null
    throw error
  }
}
