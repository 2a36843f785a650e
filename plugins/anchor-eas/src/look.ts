/** What has become of a subject on the chain. What a node shows decides, never what it does not: a service's machines are not all equally far. */
import {
  AnchorerError,
  type AnchorSighting,
  type AnchorSubject,
  type SignedAnchor,
  toBase64url,
} from '@claimcheck/core/plugin'
import { previousAttestation, uidAmong } from './attestations.ts'
import { finalBlock } from './final-block.ts'
import type { Node, Receipt } from './node.ts'
import { nonceAt, receiptOfNonce, type SearchOptions } from './search.ts'
import { latestBlock } from './transaction.ts'
import { notUnderstood } from './values.ts'

export interface LookOptions {
  readonly node: Node
  /** CAIP-2. */
  readonly chain: string
  readonly scheme: string
  readonly eas: string
  readonly attester: string
  /** Where the chain does not say which block is final: one with so many on top of it. */
  readonly confirmations: number | null
}

/** So many of the account's transactions may be ones that the host does not remember. */
const MOST_FORGOTTEN = 3

/** @throws AnchorerError */
export async function look(
  subject: AnchorSubject,
  signed: readonly SignedAnchor[],
  options: LookOptions,
): Promise<AnchorSighting> {
  const { node, attester, confirmations } = options
  // Asked first: what is found later is not older than it.
  const final = await finalBlock(node, confirmations)
  const landed = await receiptOfAny(signed, node)
  if (landed) return sightingOf(landed, subject, final, options)

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
  if (isSigned || (await uidAmong(used.logs, subject, options))) return sightingOf(used, subject, final, options)
  // Whoever has the nonce may still lose it; to send ours again is of no use until then.
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

/** Of an attestation of the subject that the host does not know of: its database is older than the chain. */
async function forgottenReceipt(
  subject: AnchorSubject,
  next: number,
  search: SearchOptions,
  options: LookOptions,
): Promise<Receipt | undefined> {
  const previous = await previousAttestation(subject, options)
  const known = previous && (await nonceAt(previous.time, search))
  const oldest = Math.max(next - MOST_FORGOTTEN, (known ?? -1) + 1)
  for (let nonce = next - 1; nonce >= oldest; nonce--) {
    const receipt = await receiptOfNonce(nonce, search)
    if (await uidAmong(receipt.logs, subject, options)) return receipt
  }
  return undefined
}

function nonceGap(next: number, signed: number): AnchorerError {
  const missing = next === signed - 1 ? `nonce ${next}` : `the nonces ${next} to ${signed - 1}`
  return new AnchorerError(
    'nonce_gap',
    `the account has not used ${missing}: what is signed with ${signed} can not land`,
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
  // A receipt may be remembered from a block that was replaced.
  if (block?.hash !== blockHash) throw notUnderstood('the block that a receipt names')
  if (isReverted) return { state: 'dropped', problem: 'reverted' }

  const uid = await uidAmong(logs, subject, options)
  if (uid === undefined) throw notUnderstood('the attestation that a transaction has made')
  const { treeSize, rootHash } = subject
  const where = { chain: options.chain, scheme: options.scheme, uid, txHash, blockNumber, blockTime: block.time }
  return {
    state: 'final',
    anchor: { ...where, treeSize, rootHash: toBase64url(rootHash) },
    cost: String(cost),
    gasUsed,
  }
}
