/** Signs and sends transactions. A call is signed only if it would succeed, and the account can pay for it within the operator's ceiling. */
import { AnchorerError, type SignedAnchor } from '@claimcheck/core/plugin'
import type { Account } from './account.ts'
import { Refusal, unexpectedResponse } from './errors.ts'
import { chooseFees } from './fees.ts'
import type { Block, Call, Node } from './node.ts'

export interface TransactionOptions {
  readonly node: Node
  readonly chainId: number
  readonly account: Account
  readonly maxFeeWei: bigint
  /** The transaction that the new one replaces. */
  readonly replaced?: SignedAnchor | undefined
}

/** Signs a call, and sends nothing. @throws AnchorerError if the call would fail, or costs too much */
export async function signCall(
  call: Pick<Call, 'to' | 'data'>,
  { node, chainId, account, maxFeeWei, replaced }: TransactionOptions,
): Promise<SignedAnchor> {
  const next = await node.nonce(account.address, 'latest')
  const nonce = replaced?.nonce ?? next
  if (next > nonce) throw new AnchorerError('nonce_taken', `another transaction has used the nonce ${nonce}`)

  const estimate = await node.estimateGas({ from: account.address, ...call })
  const { baseFee } = await latestBlock(node)
  const fees = chooseFees({ baseFee, priorityFee: await node.priorityFee() }, replaced, maxFeeWei)
  // The call can need more gas when it gets into a block. Unused gas is not paid.
  const gasLimit = estimate + estimate / 4n
  const maxCost = gasLimit * fees.maxFee
  const balance = await node.balance(account.address)
  if (balance < maxCost) {
    throw new AnchorerError(
      'insufficient_balance',
      `the account ${account.address} has ${balance} wei and can need ${maxCost} wei`,
    )
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

/**
 * Sends a signed transaction. A refusal because of its nonce or fee, or because the node has it already, is not an error: its fate is looked up
 * later.
 * @throws AnchorerError for other failures
 */
export async function sendSigned(node: Node, { raw, txHash }: Pick<SignedAnchor, 'raw' | 'txHash'>): Promise<void> {
  const hash = await node.send(raw).catch((error: unknown) => {
    if (error instanceof Refusal && error.isAboutNonceOrPrice) return txHash
    throw error
  })
  if (hash !== txHash) throw unexpectedResponse('the hash of the transaction that was sent')
}

export async function latestBlock(node: Node): Promise<Block> {
  const block = await node.block('latest')
  if (!block) throw unexpectedResponse('the latest block')
  return block
}
