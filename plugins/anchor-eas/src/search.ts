/** Where on the chain the account's transactions are. A node says only how many there are by a block: the blocks are searched, and name the transactions. */

import { unexpectedResponse } from './errors.ts'
import type { Node, Receipt } from './node.ts'

export interface SearchOptions {
  readonly node: Node
  readonly attester: string
  /** The number of the block to search back from. */
  readonly latest: number
}

/**
 * The receipt of the transaction that has used a nonce.
 * @throws AnchorerError also when the block or the receipt is missing: a service's machines are not all equally far
 */
export async function receiptOfNonce(nonce: number, { node, attester, latest }: SearchOptions): Promise<Receipt> {
  const number = await firstBlock(latest, async (block) => (await node.nonce(attester, block)) > nonce)
  const used = (await node.transactionsOf(attester, number)).find((transaction) => transaction.nonce === nonce)
  if (!used) throw unexpectedResponse('the transaction that has used a nonce')
  const receipt = await node.receipt(used.txHash)
  if (receipt?.blockHash !== used.blockHash) throw unexpectedResponse('the receipt of a transaction that is in a block')
  return receipt
}

/** The account's first nonce in the first block of this time, if it has one there. Told by the blocks alone: nodes keep these, and forget old states. */
export async function nonceAt(time: number, { node, attester, latest }: SearchOptions): Promise<number | undefined> {
  const number = await firstBlock(latest, async (number) => {
    const block = await node.block(number)
    if (!block) throw unexpectedResponse('a block')
    return block.time >= time
  })
  return (await node.transactionsOf(attester, number))[0]?.nonce
}

/** The first block of which something is true that is true of the latest, and of all after the first. Searched from the latest one back. */
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
