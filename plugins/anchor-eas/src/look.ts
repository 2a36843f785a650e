/** What has become of the transactions that were signed for a subject. The account's nonce and the contract's own record decide; no hash is trusted alone. */
import { type AnchorSighting, type AnchorSubject, type SignedAnchor, toBase64url } from '@claimcheck/core'
import { attestedTopics, attestedUids, getAttestationCall, isAttestationOf } from './eas.ts'
import type { Log, Node, Receipt } from './node.ts'
import { latestBlock } from './transaction.ts'
import { notUnderstood } from './values.ts'

export interface LookOptions {
  readonly node: Node
  /** CAIP-2. */
  readonly chain: string
  readonly scheme: string
  readonly eas: string
  readonly attester: string
  /** So many blocks on top make one final; null: the chain says itself which one is. */
  readonly confirmations: number | null
}

/** @throws AnchorerError */
export async function look(
  subject: AnchorSubject,
  signed: readonly SignedAnchor[],
  options: LookOptions,
): Promise<AnchorSighting> {
  const { node, attester, confirmations } = options
  const newest = signed.at(-1)
  if (!newest) return { state: 'waiting', isKnown: false }

  // Asked first: what is found later is not older than it.
  const final = await finalBlock(node, confirmations)
  const landed = await receiptOfAny(signed, node)
  if (landed) return sightingOf(landed, subject, final, options)

  const { number: latest } = await latestBlock(node)
  if ((await node.nonce(attester, latest)) <= newest.nonce) {
    return { state: 'waiting', isKnown: await node.hasTransaction(newest.txHash) }
  }
  const attested = await receiptByEvent(subject, await blockOfNonce(newest.nonce, latest, options), options)
  if (attested) return sightingOf(attested, subject, final, options)
  // Whoever has the nonce may still lose it; to send ours again is of no use until then.
  const isTaken = final >= 0 && (await node.nonce(attester, final)) > newest.nonce
  return isTaken ? { state: 'dropped', problem: 'nonce_taken' } : { state: 'waiting', isKnown: true }
}

/** The number of the newest block that stays; negative before there is one. */
export async function finalBlock(node: Node, confirmations: number | null): Promise<number> {
  if (confirmations !== null) return (await latestBlock(node)).number - confirmations
  const block = await node.block('finalized')
  if (!block) throw notUnderstood('the finalized block: set confirmations, if the chain has none')
  return block.number
}

async function receiptOfAny(signed: readonly SignedAnchor[], node: Node): Promise<Receipt | null> {
  for (const { txHash } of signed.toReversed()) {
    const receipt = await node.receipt(txHash)
    if (receipt) return receipt
  }
  return null
}

/** In which block the account used the nonce. Searched from the latest one back: nodes forget old states. */
async function blockOfNonce(nonce: number, latest: number, { node, attester }: LookOptions): Promise<number> {
  const isUsedBy = async (block: number) => (await node.nonce(attester, block)) > nonce
  let used = latest
  let unused = latest - 1
  while (unused > 0 && (await isUsedBy(unused))) {
    const distance = latest - unused
    used = unused
    unused = Math.max(0, latest - 2 * distance)
  }
  while (used - unused > 1) {
    const middle = Math.floor((used + unused) / 2)
    if (await isUsedBy(middle)) used = middle
    else unused = middle
  }
  return used
}

/** The receipt of the transaction that attested the subject in this block, whichever it is. */
async function receiptByEvent(subject: AnchorSubject, block: number, options: LookOptions): Promise<Receipt | null> {
  const { node, eas, attester } = options
  const logs = await node.logs({ address: eas, topics: attestedTopics(attester), fromBlock: block, toBlock: block })
  for (const log of logs) {
    if (await uidAmong([log], subject, options)) return node.receipt(log.txHash)
  }
  return null
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

/** The uid of the event of the subject's attestation. The contract is asked what it attests. */
async function uidAmong(
  logs: readonly Log[],
  subject: AnchorSubject,
  { node, eas, attester }: LookOptions,
): Promise<string | undefined> {
  for (const uid of attestedUids(logs, eas, attester)) {
    const answer = await node.call({ to: eas, data: getAttestationCall(uid) })
    if (isAttestationOf(answer, uid, subject)) return uid
  }
  return undefined
}
