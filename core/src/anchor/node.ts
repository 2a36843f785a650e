/** An EVM node's answers in types of ours. Anything of another form is no answer, and never guessed at. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { fromHex, toHex } from './hex.ts'
import { type Rpc, RpcError } from './rpc.ts'

/** Hashes and addresses are in small letters. Each call throws RpcError. */
export interface Node {
  chainId(): Promise<bigint>
  /** What a contract's function returns, as the newest block has it. */
  call(contract: string, input: Uint8Array): Promise<Uint8Array>
  /** `undefined` while the transaction is in no block. */
  receipt(txHash: string): Promise<TransactionReceipt | undefined>
  block(number: bigint): Promise<Block>
  latestBlock(): Promise<Block>
  /** `undefined` where the node does not say. */
  finalizedBlock(): Promise<Block | undefined>
}

export interface TransactionReceipt {
  readonly blockNumber: bigint
  readonly blockHash: string
  readonly logs: readonly Log[]
}

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Block {
  readonly number: bigint
  readonly hash: string
  /** Unix seconds. */
  readonly time: bigint
}

const ADDRESS_BYTES = 20
const HASH_BYTES = 32
const QUANTITY = /^0x[0-9a-f]{1,64}$/i

export function createNode(rpc: Rpc): Node {
  const block = (which: string) => rpc('eth_getBlockByNumber', which, false)
  return {
    chainId: async () => quantity(await rpc('eth_chainId')),
    call: async (contract, input) => bytes(await rpc('eth_call', { to: contract, data: toHex(input) }, 'latest')),
    receipt: async (txHash) => {
      const answer = await rpc('eth_getTransactionReceipt', txHash)
      return answer === null ? undefined : toReceipt(object(answer), txHash)
    },
    block: async (number) => {
      const found = toBlock(await block(`0x${number.toString(16)}`))
      if (found.number !== number) throw new RpcError('unexpected_response')
      return found
    },
    latestBlock: async () => toBlock(await block('latest')),
    finalizedBlock: async () => {
      const answer = await block('finalized').catch((error: unknown) => {
        if (error instanceof RpcError && error.code === 'refused') return null
        throw error
      })
      return answer === null ? undefined : toBlock(answer)
    },
  }
}

function toReceipt({ transactionHash, blockNumber, blockHash, logs }: JsonObject, txHash: string): TransactionReceipt {
  if (hex(transactionHash, HASH_BYTES) !== txHash) throw new RpcError('unexpected_response')
  return {
    blockNumber: quantity(blockNumber),
    blockHash: hex(blockHash, HASH_BYTES),
    logs: list(logs).map(toLog),
  }
}

function toLog(value: JsonValue): Log {
  const { address, topics, data } = object(value)
  return {
    address: hex(address, ADDRESS_BYTES),
    topics: list(topics).map((topic) => hex(topic, HASH_BYTES)),
    data: hex(data),
  }
}

function toBlock(value: JsonValue): Block {
  const { number, hash, timestamp } = object(value)
  return { number: quantity(number), hash: hex(hash, HASH_BYTES), time: quantity(timestamp) }
}

function quantity(value: JsonValue | undefined): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw new RpcError('unexpected_response')
  return BigInt(value)
}

function bytes(value: JsonValue | undefined, lengthBytes?: number): Uint8Array {
  const read = typeof value === 'string' ? fromHex(value) : undefined
  if (!read || read.length !== (lengthBytes ?? read.length)) throw new RpcError('unexpected_response')
  return read
}

function hex(value: JsonValue | undefined, lengthBytes?: number): string {
  return toHex(bytes(value, lengthBytes))
}

function object(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw new RpcError('unexpected_response')
  return value
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new RpcError('unexpected_response')
  return value
}
