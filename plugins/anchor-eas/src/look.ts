/**
 * Finds the state of a subject's transactions on the chain. Only what a node shows counts, never what it lacks: a service has many nodes,
 * and some of them are behind.
 */
import {
  AnchorerError,
  type AnchorSighting,
  type AnchorSubject,
  type SignedAnchor,
  toBase64url,
} from '@claimcheck/core/plugin'
import { type AttestationOptions, attestedUid, previousAttestation } from './attestations.ts'
import { unexpectedResponse } from './errors.ts'
import { finalBlock } from './final-block.ts'
import type { Node, Receipt } from './node.ts'
import { nonceAt, receiptOfNonce, type SearchOptions } from './search.ts'
import { latestBlock } from './transaction.ts'

export interface LookOptions extends AttestationOptions {
  /** The chain by its CAIP-2 id. */
  readonly chain: string
  readonly scheme: string
  /** Number of later blocks that make a block final; `null` if the chain has a finalized block. */
  readonly confirmations: number | null
}

/** The number of the account's last transactions that are searched for one that the host does not know. */
const MAX_FORGOTTEN = 3

/** Implements `Anchorer.look`. @throws AnchorerError if the node cannot tell the state */
export async function look(
  subject: AnchorSubject,
  signed: readonly SignedAnchor[],
  options: LookOptions,
): Promise<AnchorSighting> {
  const { node, attester, confirmations } = options
  // The final block is read first: if it were read last, it could be newer than the receipts, and a receipt from a replaced block would count as
  // final.
  const final = await finalBlock(node, confirmations)
  const mined = await receiptOfAny(signed, node)
  if (mined) return sightingOf(mined, subject, final, options)

  const { number: latest } = await latestBlock(node)
  const next = await node.nonce(attester, latest)
  const search = { node, attester, latest }
  const newest = signed.at(-1)
  if (!newest) {
    const forgotten = await forgottenReceipt(subject, next, search, options)
    return forgotten ? sightingOf(forgotten, subject, final, options) : { state: 'waiting', isKnown: false }
  }
  if (next < newest.nonce) throw nonceGap(next, newest.nonce)
  if (next === newest.nonce) return { state: 'waiting', isKnown: await node.hasTransaction(newest.txHash) }

  const used = await receiptOfNonce(newest.nonce, search)
  const isSigned = signed.some(({ txHash }) => txHash === used.txHash)
  if (isSigned || (await attestedUid(used.logs, subject, options))) return sightingOf(used, subject, final, options)
  // Another transaction has the nonce. Until its block is final, a reorg can remove it, and sending ours is of no use before that.
  const isTaken = used.blockNumber <= final
  return isTaken ? { state: 'dropped', problem: 'nonce_taken' } : { state: 'waiting', isKnown: true }
}

async function receiptOfAny(signed: readonly SignedAnchor[], node: Node): Promise<Receipt | null> {
  for (const { txHash } of signed.toReversed()) {
    const receipt = await node.receipt(txHash)
    if (receipt) return receipt
  }
  return null
}

/**
 * Finds the receipt of a transaction that attests the subject and that the host does not know, because its database was restored from an older copy.
 */
async function forgottenReceipt(
  subject: AnchorSubject,
  next: number,
  search: SearchOptions,
  options: LookOptions,
): Promise<Receipt | undefined> {
  const previous = await previousAttestation(subject, options)
  const known = previous && (await nonceAt(Number(previous.time), search))
  const oldest = Math.max(next - MAX_FORGOTTEN, (known ?? -1) + 1)
  for (let nonce = next - 1; nonce >= oldest; nonce--) {
    const receipt = await receiptOfNonce(nonce, search)
    if (await attestedUid(receipt.logs, subject, options)) return receipt
  }
  return undefined
}

function nonceGap(next: number, signed: number): AnchorerError {
  const missing = next === signed - 1 ? `nonce ${next}` : `the nonces ${next} to ${signed - 1}`
  return new AnchorerError(
    'nonce_gap',
    `the account has not used ${missing}: the chain takes the signed transaction, with nonce ${signed}, only after that`,
  )
}

async function sightingOf(
  { txHash, blockNumber, blockHash, isReverted, gasUsed, cost, logs }: Receipt,
  subject: AnchorSubject,
  final: number,
  options: LookOptions,
): Promise<AnchorSighting> {
  if (blockNumber > final) return { state: 'mined', txHash, blockNumber }

  const block = await options.node.block(blockNumber)
  // A node may still have the transaction's receipt from a block that was replaced.
  if (block?.hash !== blockHash) throw unexpectedResponse('the block that a receipt names')
  if (isReverted) return { state: 'dropped', problem: 'reverted' }

  const uid = await attestedUid(logs, subject, options)
  if (uid === undefined) throw unexpectedResponse('the attestation of a transaction')
  const { treeSize, rootHash } = subject
  const where = { chain: options.chain, scheme: options.scheme, uid, txHash, blockNumber, blockTime: block.time }
  return {
    state: 'final',
    anchor: { ...where, treeSize, rootHash: toBase64url(rootHash) },
    cost: String(cost),
    gasUsed,
  }
}
