/** Makes a signed transaction of a call, when it would succeed, and the account can pay for it within the operator's ceiling. */
import { AnchorerError, type SignedAnchor } from '@claimcheck/core/plugin'
import type { Account } from './account.ts'
import { chooseFees } from './fees.ts'
import type { Block, Call, Node } from './node.ts'
import { Refusal } from './refusal.ts'
import { notUnderstood } from './values.ts'

export interface TransactionOptions {
  readonly node: Node
  readonly chainId: number
  readonly account: Account
  readonly maxFeeWei: bigint
  /** The transaction that this one takes the place of. */
  readonly replaced?: SignedAnchor | undefined
}

/** @throws AnchorerError */
export async function signCall(
  call: Pick<Call, 'to' | 'data'>,
  { node, chainId, account, maxFeeWei, replaced }: TransactionOptions,
): Promise<SignedAnchor> {
  const next = await node.nonce(account.address, 'latest')
  const nonce = replaced?.nonce ?? next
  if (next > nonce) throw new AnchorerError('nonce_taken', `a transaction of nonce ${nonce} has landed`)

  const estimate = await node.estimateGas({ from: account.address, ...call })
  const { baseFee } = await latestBlock(node)
  const fees = chooseFees({ baseFee, priorityFee: await node.priorityFee() }, replaced, maxFeeWei)
  // The state may differ a little when it lands. What is not used is not paid.
  const gasLimit = estimate + estimate / 4n
  const most = gasLimit * fees.maxFee
  const balance = await node.balance(account.address)
  if (balance < most) {
    throw new AnchorerError('insufficient_balance', `${account.address} has ${balance} wei, and may need ${most}`)
  }
  const { raw, txHash } = account.sign({
    ...call,
    chainId,
    nonce,
    gasLimit,
    maxFeePerGas: fees.maxFee,
    maxPriorityFeePerGas: fees.priorityFee,
  })
  return { raw, txHash, nonce, maxFee: String(fees.maxFee), priorityFee: String(fees.priorityFee) }
}

/** A node that holds it, refuses it for its nonce, or wants more for it, is no problem here: what became of it is looked up. */
export async function sendSigned(node: Node, { raw, txHash }: Pick<SignedAnchor, 'raw' | 'txHash'>): Promise<void> {
  const hash = await node.send(raw).catch((error: unknown) => {
    if (error instanceof Refusal && error.isAboutNonceOrPrice) return txHash
    throw error
  })
  if (hash !== txHash) throw notUnderstood('the hash of the transaction that was sent')
}

export async function latestBlock(node: Node): Promise<Block> {
  const block = await node.block('latest')
  if (!block) throw notUnderstood('the latest block')
  return block
}
