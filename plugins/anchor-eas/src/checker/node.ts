/** The questions that the anchor check asks an EVM node, and the parts of the answers that it uses. */
import type { JsonValue } from '@claimcheck/core/plugin'
import { fromHex, toHex } from './hex.ts'
import { type Rpc, RpcError } from './rpc.ts'
import {
  readAddress,
  readCount,
  readHash,
  readHex,
  readList,
  readObject,
  readQuantity,
  unexpectedValue,
} from './values.ts'

export type Node = ReturnType<typeof createNode>

export interface TransactionReceipt {
  readonly txHash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly logs: readonly Log[]
}

/** An event of a contract. */
export interface Log {
  /** The address of the contract that emitted the event. */
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Block {
  readonly number: number
  readonly hash: string
  /** The time of the block, in Unix seconds. */
  readonly time: number
}

/** Creates the questions to a node. Hashes and addresses are hex in lower case. Each method throws RpcError. */
export function createNode(rpc: Rpc, signal: AbortSignal) {
  const ask = (method: string, ...params: readonly JsonValue[]) => rpc(method, params, { signal })
  const block = (which: string) => ask('eth_getBlockByNumber', which, false)
  return {
    chainId: async () => readQuantity(await ask('eth_chainId')),
    /** Calls a contract's function on the newest block, and returns its result as ABI-encoded bytes. */
    call: async (contract: string, input: Uint8Array) =>
      fromHex(readHex(await ask('eth_call', { to: contract, data: toHex(input) }, 'latest')))!,
    /** Reads a transaction's receipt; `undefined` while the transaction is in no block. */
    receipt: async (txHash: string) => {
      const answer = await ask('eth_getTransactionReceipt', txHash)
      return answer === null ? undefined : readReceipt(answer, txHash)
    },
    block: async (number: number) => readBlock(await block(`0x${number.toString(16)}`), number),
    latestBlock: async () => readBlock(await block('latest')),
    /** Reads the final block; `undefined` when the node does not say which block is final. */
    finalizedBlock: async () => {
      const answer = await block('finalized').catch((error: unknown) => {
        if (error instanceof RpcError && error.code === 'refused') return null
        throw error
      })
      return answer === null ? undefined : readBlock(answer)
    },
  }
}

/** Reads a block. @param number the number that the block must have @throws RpcError `unexpected_response` for anything else */
export function readBlock(value: JsonValue, number?: number): Block {
  const block = readObject(value)
  const read = { number: readCount(block.number), hash: readHash(block.hash), time: readCount(block.timestamp) }
  if (number !== undefined && read.number !== number) throw unexpectedValue('the block that was asked for')
  return read
}

/** Reads the receipt of that transaction. @throws RpcError `unexpected_response` for anything else */
export function readReceipt(value: JsonValue, txHash: string): TransactionReceipt {
  const receipt = readObject(value)
  if (readHash(receipt.transactionHash) !== txHash) throw unexpectedValue('the receipt that was asked for')
  return {
    txHash,
    blockNumber: readCount(receipt.blockNumber),
    blockHash: readHash(receipt.blockHash),
    logs: readList(receipt.logs).map(readLog),
  }
}

/** Reads an event. @throws RpcError `unexpected_response` for anything else */
export function readLog(value: JsonValue): Log {
  const log = readObject(value)
  return { address: readAddress(log.address), topics: readList(log.topics).map(readHash), data: readHex(log.data) }
}
