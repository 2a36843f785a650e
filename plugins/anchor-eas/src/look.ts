/** What has become of the transactions that were signed for a subject. The account's nonce and the contract's own record decide; no hash is trusted alone. */
import { AnchorerError, type AnchorSighting, type AnchorSubject, type SignedAnchor, toBase64url } from '@claimcheck/core'
import { attestedUids, getAttestationCall, isAttestationOf } from './eas.ts'
import { finalBlock } from './finality.ts'
import type { Node, Receipt } from './node.ts'
import { findAttestation } from './search.ts'
import { latestBlock } from './transaction.ts'
import { notUnderstood } from './values.ts'

export interface LookOptions {
  readonly node: Node
  /** CAIP-2. */
  readonly chain: string
  readonly scheme: string
  readonly eas: string
  readonly attester: string
  readonly confirmations: number | null
}

/** @throws AnchorerError */
export async function look(
  subject: AnchorSubject,
  signed: readonly SignedAnchor[],
  options: LookOptions,
): Promise<AnchorSighting> {
  const { node, attester, confirmations } = options
  const [first, newest] = [signed[0], signed.at(-1)]
  if (!first || !newest) return { state: 'waiting', isKnown: false }

  // Asked first: what is found later is not older than it.
  const final = await finalBlock(node, confirmations)
  const receipt = await receiptOfAny(node, signed)
  if (receipt) return sightingOf(receipt, subject, final, options)

  const latest = await latestBlock(node)
  if ((await node.nonce(attester, 'latest')) <= first.nonce) {
    return { state: 'waiting', isKnown: await node.hasTransaction(newest.txHash) }
  }
  const found = await findAttestation(subject, { from: first.afterBlock + 1, to: latest.number }, options)
  if (found) return sightingOf(found, subject, final, options)
  // Whoever has the nonce may still lose it; sending ours again would be of no use until then.
  const isTaken = final >= 0 && (await node.nonce(attester, final)) > first.nonce
  return isTaken ? { state: 'dropped', problem: 'nonce_taken' } : { state: 'waiting', isKnown: true }
}

async function receiptOfAny(node: Node, signed: readonly SignedAnchor[]): Promise<Receipt | null> {
  for (const { txHash } of signed.toReversed()) {
    const receipt = await node.receipt(txHash)
    if (receipt) return receipt
  }
  return null
}

async function sightingOf(
  receipt: Receipt,
  subject: AnchorSubject,
  final: number,
  options: LookOptions,
): Promise<AnchorSighting> {
  const { txHash, blockNumber, gasUsed, cost } = receipt
  if (blockNumber > final) return { state: 'mined', txHash, blockNumber }

  const block = await options.node.block(blockNumber)
  // A receipt may be remembered from a block that was replaced.
  if (block?.hash !== receipt.blockHash) throw notUnderstood('the block that a receipt names')
  if (receipt.isReverted) return { state: 'dropped', problem: 'reverted' }

  const uid = await uidOf(receipt, subject, options)
  const { treeSize, rootHash } = subject
  const where = { chain: options.chain, scheme: options.scheme, uid, txHash, blockNumber, blockTime: block.time }
  return {
    state: 'final',
    anchor: { ...where, treeSize, rootHash: toBase64url(rootHash) },
    cost: String(cost),
    gasUsed,
  }
}

/** Of the attestation as the contract has it now. */
async function uidOf(receipt: Receipt, subject: AnchorSubject, { node, eas, attester }: LookOptions): Promise<string> {
  for (const uid of attestedUids(receipt.logs, eas, attester)) {
    const answer = await node.call({ to: eas, data: getAttestationCall(uid) })
    if (isAttestationOf(answer, uid, subject)) return uid
  }
  throw new AnchorerError('unexpected_response', 'a transaction that attests the subject has left no attestation of it')
}
