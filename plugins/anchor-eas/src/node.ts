/** The questions that the anchorer asks a node of its chain, and the parts of the answers that it uses. */
import { AnchorerError, type JsonObject, type JsonValue } from '@claimcheck/core/plugin'
import {
  type Block as BlockHeader,
  type Log,
  readBlock,
  readLog,
  readReceipt,
  type TransactionReceipt,
} from './checker/node.ts'
import {
  readAddress,
  readCount,
  readHash,
  readHex,
  readList,
  readObject,
  readQuantity,
  unexpectedValue,
} from './checker/values.ts'
import type { Ask } from './rpc.ts'
import { readSignedCall } from './signed-call.ts'

export type { Log }

export interface Block extends BlockHeader {
  readonly baseFee: bigint
}

/** A transaction in a block. */
export interface MinedTransaction {
  readonly txHash: string
  readonly nonce: number
  readonly blockHash: string
}

export interface Receipt extends TransactionReceipt {
  readonly isReverted: boolean
  readonly gasUsed: number
  /** The cost of the transaction with all fees, in wei. */
  readonly cost: bigint
}

/** An event, with the transaction that made it. */
export interface Event extends Log {
  readonly txHash: string
  readonly blockNumber: number
}

export interface EventFilter {
  readonly address: string
  readonly topics: readonly (string | null)[]
  readonly fromBlock: number
  readonly toBlock: number
}

export type Call = {
  readonly from?: string
  readonly to: string
  readonly data: string
}

// The longest block with its transactions in full, written as hex.
const MAX_BLOCK_BYTES = 32 * 1024 * 1024

export type Node = Awaited<ReturnType<typeof openNode>>

/**
 * Opens a node, which is asked for its chain id first. Hashes are hex in lower case. Each method throws AnchorerError.
 * @throws AnchorerError `wrong_chain` when the node is of another chain
 */
export async function openNode(ask: Ask, chainId: number, signal: AbortSignal) {
  const get = <T>(read: (result: JsonValue) => T, method: string, ...params: readonly JsonValue[]) =>
    ask({ method, params }, read, { signal })
  const id = await get(readQuantity, 'eth_chainId')
  if (id !== BigInt(chainId)) {
    throw new AnchorerError('wrong_chain', `the node is of chain ${id}, and ${chainId} is configured`)
  }
  return {
    block: (which: number | 'latest' | 'finalized') =>
      get((result) => toBlock(result, which), 'eth_getBlockByNumber', tag(which), false),
    /** Reads an account's balance in wei. */
    balance: (address: string) => get(readQuantity, 'eth_getBalance', address, 'latest'),
    hasCode: async (address: string) => (await get(readHex, 'eth_getCode', address, 'latest')) !== '0x',
    /** Reads the number of an account's transactions up to and including a block, which is the nonce of its next one. */
    nonce: (address: string, which: number | 'latest') =>
      get(readCount, 'eth_getTransactionCount', address, tag(which)),
    /** Calls a contract, and returns its answer as hex. */
    call: (call: Call) => get(readHex, 'eth_call', call, 'latest'),
    estimateGas: (call: Call) => get(readQuantity, 'eth_estimateGas', call, 'latest'),
    /** Reads the priority fee that the node proposes, in wei for a unit of gas. */
    priorityFee: () => get(readQuantity, 'eth_maxPriorityFeePerGas'),
    /** Tells whether the node knows the transaction, in a block or not. */
    hasTransaction: (txHash: string) => get((result) => hasHash(result, txHash), 'eth_getTransactionByHash', txHash),
    /** Reads a transaction's receipt; `null` while the transaction is in no block. */
    receipt: (txHash: string) => get((result) => toReceipt(result, txHash), 'eth_getTransactionReceipt', txHash),
    /** Reads the account's transactions in a block, in the order of their nonces. */
    transactionsOf: (address: string, blockNumber: number): Promise<readonly MinedTransaction[]> =>
      ask(
        { method: 'eth_getBlockByNumber', params: [tag(blockNumber), true] },
        (result) => toTransactions(result, address, blockNumber),
        { signal, maxAnswerBytes: MAX_BLOCK_BYTES },
      ),
    /** Lists events in the order of the chain. */
    events: ({ fromBlock, toBlock, ...filter }: EventFilter): Promise<readonly Event[]> =>
      get((result) => readList(result).map(toEvent), 'eth_getLogs', {
        ...filter,
        fromBlock: tag(fromBlock),
        toBlock: tag(toBlock),
      }),
    /** Reads the call that the account of this transaction signed; `undefined` if the transaction is of another type than the anchorer's. */
    signed: (txHash: string) => get((result) => readSignedCall(result, txHash), 'eth_getTransactionByHash', txHash),
    /** Sends a signed transaction, and returns its hash. */
    send: (raw: string) => get(readHash, 'eth_sendRawTransaction', raw),
  }
}

function tag(which: number | string): string {
  return typeof which === 'number' ? `0x${which.toString(16)}` : which
}

function toBlock(value: JsonValue, which: number | string): Block | null {
  if (value === null) return null
  const header = readBlock(value, typeof which === 'number' ? which : undefined)
  return { ...header, baseFee: readQuantity(readObject(value).baseFeePerGas) }
}

function toTransactions(value: JsonValue, address: string, blockNumber: number): MinedTransaction[] {
  const { hash: blockHash } = readBlock(value, blockNumber)
  return readList(readObject(value).transactions)
    .map(readObject)
    .filter(({ from }) => readAddress(from) === address.toLowerCase())
    .map((transaction) => {
      if (readHash(transaction.blockHash) !== blockHash) throw unexpectedValue('a transaction of the block')
      return { txHash: readHash(transaction.hash), nonce: readCount(transaction.nonce), blockHash }
    })
}

function toEvent(value: JsonValue): Event {
  const { transactionHash, blockNumber } = readObject(value)
  return { ...readLog(value), txHash: readHash(transactionHash), blockNumber: readCount(blockNumber) }
}

function hasHash(value: JsonValue, txHash: string): boolean {
  if (value === null) return false
  if (readHash(readObject(value).hash) !== txHash) throw unexpectedValue('the transaction that was asked for')
  return true
}

function toReceipt(value: JsonValue, txHash: string): Receipt | null {
  if (value === null) return null
  const receipt = readObject(value)
  return {
    ...readReceipt(value, txHash),
    isReverted: readQuantity(receipt.status) === 0n,
    gasUsed: readCount(receipt.gasUsed),
    cost: costOf(receipt),
  }
}

/** The cost of a transaction, to which chains of the OP stack add a fee for the chain below: `l1Fee` in the receipt. */
function costOf({ gasUsed, effectiveGasPrice, l1Fee = '0x0' }: JsonObject): bigint {
  return readQuantity(gasUsed) * readQuantity(effectiveGasPrice) + readQuantity(l1Fee)
}
