/** The chain as a node shows it: what we ask, and answers in types of ours. Whoever has one has asked the chain for its id. */
import { AnchorerError } from '@claimcheck/core/plugin'
import type { Rpc } from './rpc.ts'
import { count, data, type Fields, fields, hash, list, notUnderstood, quantity, toQuantity } from './values.ts'

export interface Block {
  readonly number: number
  readonly hash: string
  /** Unix seconds. */
  readonly time: number
  readonly baseFee: bigint
}

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** In a block. */
export interface MinedTransaction {
  readonly txHash: string
  readonly nonce: number
  readonly blockHash: string
}

export interface Receipt {
  readonly txHash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly isReverted: boolean
  readonly gasUsed: number
  readonly cost: bigint
  readonly logs: readonly Log[]
}

export interface Call {
  readonly from?: string
  readonly to: string
  readonly data: string
}

// With all that its transactions carry, and hex is twice as long.
const LARGEST_BLOCK_BYTES = 32 * 1024 * 1024

/** Each call throws AnchorerError. */
export interface Node {
  block(which: number | 'latest' | 'finalized'): Promise<Block | null>
  balance(address: string): Promise<bigint>
  hasCode(address: string): Promise<boolean>
  /** How many transactions the account has made, up to a block and in it: the nonce of its next. */
  nonce(address: string, which: number | 'latest'): Promise<number>
  call(call: Call): Promise<string>
  estimateGas(call: Call): Promise<bigint>
  priorityFee(): Promise<bigint>
  /** Held, mined or not. */
  hasTransaction(txHash: string): Promise<boolean>
  receipt(txHash: string): Promise<Receipt | null>
  /** The account's in a block, in order. */
  transactionsOf(address: string, blockNumber: number): Promise<readonly MinedTransaction[]>
  /** Its hash. */
  send(raw: string): Promise<string>
}

/** @throws AnchorerError, also when it is another chain's node */
export async function openNode(rpc: Rpc, chainId: number, signal: AbortSignal): Promise<Node> {
  const ask = (method: string, ...params: readonly unknown[]) => rpc(method, params, signal)
  const id = quantity(await ask('eth_chainId'))
  if (id !== BigInt(chainId)) {
    throw new AnchorerError('wrong_chain', `the node is of chain ${id}, and ${chainId} is configured`)
  }
  return {
    block: async (which) => toBlock(await ask('eth_getBlockByNumber', tag(which), false), which),
    balance: async (address) => quantity(await ask('eth_getBalance', address, 'latest')),
    hasCode: async (address) => data(await ask('eth_getCode', address, 'latest')) !== '0x',
    nonce: async (address, which) => count(await ask('eth_getTransactionCount', address, tag(which))),
    call: async (call) => data(await ask('eth_call', call, 'latest')),
    estimateGas: async (call) => quantity(await ask('eth_estimateGas', call, 'latest')),
    priorityFee: async () => quantity(await ask('eth_maxPriorityFeePerGas')),
    hasTransaction: async (txHash) => hasHash(await ask('eth_getTransactionByHash', txHash), txHash),
    receipt: async (txHash) => toReceipt(await ask('eth_getTransactionReceipt', txHash), txHash),
    transactionsOf: async (address, blockNumber) => {
      const params = [tag(blockNumber), true]
      const block = await rpc('eth_getBlockByNumber', params, signal, LARGEST_BLOCK_BYTES)
      return toTransactions(block, address, blockNumber)
    },
    send: async (raw) => hash(await ask('eth_sendRawTransaction', raw)),
  }
}

function tag(which: number | string): string {
  return typeof which === 'number' ? toQuantity(which) : which
}

function toBlock(value: unknown, which: number | string): Block | null {
  if (value === null) return null
  const block = fields(value)
  const number = count(block.number)
  if (typeof which === 'number' && number !== which) throw notUnderstood('the block that was asked for')
  return {
    number,
    hash: hash(block.hash),
    time: count(block.timestamp),
    baseFee: quantity(block.baseFeePerGas),
  }
}

function toTransactions(value: unknown, address: string, blockNumber: number): MinedTransaction[] {
  const { number, hash: blockHash, transactions } = fields(value)
  if (count(number) !== blockNumber) throw notUnderstood('the block that was asked for')
  return list(transactions)
    .map(fields)
    .filter(({ from }) => data(from) === address.toLowerCase())
    .map((transaction) => {
      if (hash(transaction.blockHash) !== hash(blockHash)) throw notUnderstood('a transaction of the block')
      return { txHash: hash(transaction.hash), nonce: count(transaction.nonce), blockHash: hash(blockHash) }
    })
}

function hasHash(value: unknown, txHash: string): boolean {
  if (value === null) return false
  if (hash(fields(value).hash) !== txHash) throw notUnderstood('the transaction that was asked for')
  return true
}

function toReceipt(value: unknown, txHash: string): Receipt | null {
  if (value === null) return null
  const receipt = fields(value)
  if (hash(receipt.transactionHash) !== txHash) throw notUnderstood('the receipt that was asked for')
  return {
    txHash,
    blockNumber: count(receipt.blockNumber),
    blockHash: hash(receipt.blockHash),
    isReverted: quantity(receipt.status) === 0n,
    gasUsed: count(receipt.gasUsed),
    cost: costOf(receipt),
    logs: list(receipt.logs).map(toLog),
  }
}

/** Chains of the OP stack take a fee for the chain below on top, and say it in the receipt. */
function costOf({ gasUsed, effectiveGasPrice, l1Fee = '0x0' }: Fields): bigint {
  return quantity(gasUsed) * quantity(effectiveGasPrice) + quantity(l1Fee)
}

function toLog(value: unknown): Log {
  const log = fields(value)
  return {
    address: data(log.address),
    topics: list(log.topics).map(hash),
    data: data(log.data),
  }
}
