/**
 * Finds an account's transactions on the chain. A node only says how many the account has made up to a block, so that the block is found by
 * a search, and the transaction in the block.
 */
import { unexpectedResponse } from './errors.ts'
import type { Node, Receipt } from './node.ts'

export interface SearchOptions {
  readonly node: Node
  readonly attester: string
  /** The number of the block at which the search begins, backwards. */
  readonly latest: number
}

/**
 * Finds the receipt of the transaction that used a nonce.
 * @throws AnchorerError `unexpected_response` when the node lacks the block or the receipt: a service has many nodes, and some are behind
 */
export async function receiptOfNonce(nonce: number, { node, attester, latest }: SearchOptions): Promise<Receipt> {
  const number = await firstBlock(latest, async (block) => (await node.nonce(attester, block)) > nonce)
  const used = (await node.transactionsOf(attester, number)).find((transaction) => transaction.nonce === nonce)
  if (!used) throw unexpectedResponse('the transaction that has used a nonce')
  const receipt = await node.receipt(used.txHash)
  if (receipt?.blockHash !== used.blockHash) throw unexpectedResponse('the receipt of a transaction that is in a block')
  return receipt
}

/**
 * Finds the nonce of the account's first transaction in the first block at or after this time (Unix seconds), if that block has one. Reads only
 * blocks: nodes keep them, but not an account's old nonces.
 */
export async function nonceAt(time: number, { node, attester, latest }: SearchOptions): Promise<number | undefined> {
  const number = await firstBlock(latest, async (number) => {
    const block = await node.block(number)
    if (!block) throw unexpectedResponse('a block')
    return block.time >= time
  })
  return (await node.transactionsOf(attester, number))[0]?.nonce
}

/**
 * Finds the first block for which the condition is true. It must be true for the latest block, and for every block after the first. The steps back
 * from the latest block double; then the search goes on by halves.
 */
async function firstBlock(latest: number, isTrueOf: (block: number) => Promise<boolean>): Promise<number> {
  let after = latest
  let before = latest - 1
  while (before > 0 && (await isTrueOf(before))) {
    const distance = latest - before
    after = before
    before = Math.max(0, latest - 2 * distance)
  }
  while (after - before > 1) {
    const middle = Math.floor((after + before) / 2)
    if (await isTrueOf(middle)) after = middle
    else before = middle
  }
  return after
}
