/** Reads a node of a chain by JSON-RPC. */
import {
  type Auth,
  type CheckContext,
  credential,
  DestinationError,
  type DestinationErrorCode,
  type JsonValue,
  retryAfterMs,
  type Static,
  type TSchema,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import type { Options } from './connection.ts'

/** The methods that the plugin calls, for its manifest. */
export const METHODS = [
  'eth_chainId',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
] as const

const Quantity = Type.String({ pattern: '^0x[0-9a-fA-F]{1,64}$' })
const Word = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' })
const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const Block = Type.Object({ number: Quantity, hash: Word, timestamp: Quantity })
const FullBlock = Type.Object({
  transactions: Type.Array(Type.Object({ hash: Word, from: Address, nonce: Type.Optional(Quantity) })),
})
const Transaction = Type.Object({
  hash: Word,
  from: Address,
  nonce: Quantity,
  to: orNull(Address),
  value: Quantity,
  blockHash: orNull(Word),
})
const Receipt = Type.Object({
  transactionHash: Word,
  blockHash: Word,
  blockNumber: Quantity,
  // Blocks before Byzantium have a root in its place.
  status: Type.Optional(Quantity),
  logs: Type.Array(Type.Object({ address: Address, topics: Type.Array(Word) })),
})

const RpcError = Type.Object({ code: Type.Integer() })

/** Code of JSON-RPC for params that a method does not take, such as a tag that the node does not know. */
const INVALID_PARAMS = -32602

/** The meaning of codes by which nodes refuse calls for a time, in answers of status 200, too (EIP-1474). */
const MEANINGS: Readonly<Record<number, DestinationErrorCode>> = {
  429: 'rate_limited',
  [-32005]: 'rate_limited',
  [-32002]: 'unavailable',
}

/** A block's number, hash and time. */
export interface BlockHead {
  readonly number: number
  readonly hash: string
  /** Milliseconds; the chain tells whole seconds. */
  readonly time: number
}

export type Node = ReturnType<typeof nodeOf>

export function nodeOf({ http, now }: Pick<CheckContext, 'http' | 'now'>, options: Options) {
  const { url, auth } = endpointOf(options)

  /** Calls a method. @param refused returns the value that another code than those of `MEANINGS` means, or throws */
  async function call<T extends TSchema>(
    method: (typeof METHODS)[number],
    params: JsonValue,
    schema: T,
    refused: (code: number) => Static<T> = unexpected,
  ): Promise<Static<T>> {
    const { value } = await http.rpc(url, method, params, {
      schema,
      auth,
      refused({ errors: [error], status, headers }) {
        const code = Value.Check(RpcError, error) ? error.code : unexpected()
        const meaning = MEANINGS[code]
        if (meaning === undefined) return refused(code)
        throw new DestinationError(meaning, { status, retryAfterMs: retryAfterMs(headers, now()) })
      },
    })
    return value
  }

  return {
    /**
     * Reads which chain answers, by its id and its first block; undefined where the node shows no block so old.
     * @throws DestinationError `misconfigured` for a node of another chain than the connection says
     */
    async identity(): Promise<string | undefined> {
      const id = await call('eth_chainId', [], Quantity)
      if (String(BigInt(id)) !== options.chain_id) throw new DestinationError('misconfigured')
      const first = await call('eth_getBlockByNumber', ['0x0', false], orNull(Block), () => null)
      return first === null ? undefined : `eip155:${options.chain_id}/${headOf(first).hash}`
    },

    /** Reads the newest final block. @throws DestinationError `misconfigured` where the node knows none by that name */
    async finalized(): Promise<BlockHead> {
      const block = await call('eth_getBlockByNumber', ['finalized', false], orNull(Block), (code) => {
        if (code === INVALID_PARAMS) throw new DestinationError('misconfigured')
        return unexpected()
      })
      if (block === null) throw new DestinationError('unavailable')
      return headOf(block)
    },

    async block(number: number): Promise<BlockHead | undefined> {
      const block = await call('eth_getBlockByNumber', [quantity(number), false], orNull(Block))
      return block === null ? undefined : headOf(block)
    },

    async transactionsOf(number: number) {
      const block = await call('eth_getBlockByNumber', [quantity(number), true], FullBlock)
      return block.transactions.map(({ hash, from, nonce }) => ({
        hash: hash.toLowerCase(),
        from: from.toLowerCase(),
        nonce: nonce && Number(nonce),
      }))
    },

    /** Reads a transaction, in a block or waiting for one; null where the node knows none, which is not absence. */
    async transaction(hash: string) {
      const found = await call('eth_getTransactionByHash', [hash], orNull(Transaction))
      if (found && found.hash.toLowerCase() !== hash) throw new DestinationError('unexpected_response')
      return (
        found && {
          sender: found.from.toLowerCase(),
          nonce: Number(found.nonce),
          recipient: found.to?.toLowerCase(),
          value: String(BigInt(found.value)),
          blockHash: found.blockHash?.toLowerCase(),
        }
      )
    },

    /** Reads what became of a transaction in its block; undefined where the node knows of none. */
    async receipt(hash: string) {
      const found = await call('eth_getTransactionReceipt', [hash], orNull(Receipt))
      if (found === null) return undefined
      const { transactionHash, blockHash, blockNumber, status, logs } = found
      if (transactionHash.toLowerCase() !== hash) throw new DestinationError('unexpected_response')
      if (status === undefined) throw new DestinationError('unsupported_target')
      return {
        blockHash: blockHash.toLowerCase(),
        blockNumber: Number(blockNumber),
        isReverted: BigInt(status) !== 1n,
        logs: logs.map(({ address, topics }) => ({
          contract: address.toLowerCase(),
          topics: topics.map((topic) => topic.toLowerCase()),
        })),
      }
    },

    /** Counts the transactions of an account up to a block. */
    async count(account: string, number: number): Promise<number> {
      return Number(await call('eth_getTransactionCount', [account, quantity(number)], Quantity))
    },

    /** Tells whether an account has code at a block: then what it does cannot be seen in the transaction itself. */
    async hasCode(account: string, number: number): Promise<boolean> {
      return (await call('eth_getCode', [account, quantity(number)], Type.String({ pattern: '^0x' }))) !== '0x'
    },
  }
}

function unexpected(): never {
  throw new DestinationError('unexpected_response')
}

/** The address and the credential of a node's calls. */
function endpointOf({ base_url, key }: Options): { readonly url: string; readonly auth?: Auth } {
  const url = base_url.replace(/\/+$/, '')
  return key === undefined ? { url } : { url: `${url}/${key}`, auth: credential('key') }
}

function headOf({ number, hash, timestamp }: { number: string; hash: string; timestamp: string }): BlockHead {
  return { number: Number(number), hash: hash.toLowerCase(), time: Number(timestamp) * 1000 }
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}
