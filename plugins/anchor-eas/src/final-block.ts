/** Finds the final block: the one that the node names, or, if the chain has no finalized block, one with enough blocks after it. */
import { Refusal, unexpectedResponse } from './errors.ts'
import type { Block, Node } from './node.ts'
import { latestBlock } from './transaction.ts'

/** Finds the number of the newest final block, which is negative while there is none. @throws AnchorerError if the node cannot tell */
export async function finalBlock(node: Node, confirmations: number | null): Promise<number> {
  const block = await finalizedBlock(node)
  if (block) return block.number
  if (confirmations === null) throw unexpectedResponse('the finalized block: if the chain has none, set confirmations')
  return (await latestBlock(node)).number - confirmations
}

async function finalizedBlock(node: Node): Promise<Block | null> {
  try {
    return await node.block('finalized')
  } catch (error) {
    // An error about other things than the block does not mean that the chain has no finalized block: a later try can succeed.
    if (error instanceof Refusal && error.isAboutBlock) return null
    throw error
  }
}
