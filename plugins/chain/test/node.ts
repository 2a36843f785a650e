/** A node of a chain on loopback, of the few methods that the plugin reads, whose blocks come every 12 seconds of the given clock. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Mined {
  readonly hash: string
  readonly from: string
  readonly nonce: number
  readonly to: string | null
  readonly value: bigint
  /** Number of the block; undefined while it waits for one. */
  readonly block?: number
  readonly reverted?: boolean
  readonly logs?: readonly { readonly address: string; readonly topics: readonly string[] }[]
}

export const SLOT_MS = 12_000

/** A chain whose blocks are final after so many more. */
export class NodeOfTests {
  transactions: readonly Mined[] = []
  /** Accounts that have code. */
  contracts: readonly string[] = []
  chainId = 1n
  knowsFinalized = true

  readonly genesisAt: number
  readonly now: () => number
  readonly key: string

  constructor({
    genesisAt,
    now,
    key,
  }: { readonly genesisAt: number; readonly now: () => number; readonly key: string }) {
    // The time of a block is a whole second.
    this.genesisAt = Math.floor(genesisAt / 1000) * 1000
    this.now = now
    this.key = key
  }

  /** The number of the newest block. */
  get height(): number {
    return Math.floor((this.now() - this.genesisAt) / SLOT_MS)
  }

  /** @param finalityDepth the number of blocks by which the final one is behind the newest at least */
  async start(finalityDepth: number) {
    const server = createServer(async (request, response) => {
      response.setHeader('date', new Date(this.now()).toUTCString())
      if (request.url !== `/v3/${this.key}`) return response.writeHead(401).end()
      let body = ''
      for await (const chunk of request) body += chunk
      const { id, method, params } = JSON.parse(body)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...this.#answer(method, params, finalityDepth) }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stop = () => {
      server.closeAllConnections()
      server.close()
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
  }

  // biome-ignore lint/suspicious/noExplicitAny: the params are what a client sends.
  #answer(method: string, params: any[], finalityDepth: number): object {
    const result = (value: unknown) => ({ result: value })
    // By epochs of 32 blocks, as at Ethereum: a busy machine sees the same in two checks.
    const final = Math.max(32 * Math.floor((this.height - finalityDepth) / 32), 0)
    const known = this.transactions.filter(({ block = 0 }) => block <= this.height)
    const found = known.find(({ hash }) => hash === params[0])
    const mined = found?.block === undefined ? undefined : found
    switch (method) {
      case 'eth_chainId':
        return result(hex(this.chainId))
      case 'eth_getBlockByNumber': {
        if (params[0] === 'finalized' && !this.knowsFinalized)
          return { error: { code: -32602, message: 'invalid argument 0: unknown block tag' } }
        const number = params[0] === 'finalized' ? final : Number(params[0])
        if (number > this.height) return result(null)
        const inBlock = known.filter(({ block }) => block === number)
        return result({
          number: hex(number),
          hash: blockHash(number),
          timestamp: hex((this.genesisAt + number * SLOT_MS) / 1000),
          transactions: params[1] ? inBlock.map(wire) : inBlock.map(({ hash }) => hash),
        })
      }
      case 'eth_getTransactionByHash':
        return result(found ? wire(found) : null)
      case 'eth_getTransactionReceipt':
        return result(
          mined
            ? {
                transactionHash: mined.hash,
                blockHash: blockHash(mined.block!),
                blockNumber: hex(mined.block!),
                status: mined.reverted ? '0x0' : '0x1',
                logs: mined.logs ?? [],
              }
            : null,
        )
      case 'eth_getTransactionCount':
        return result(
          hex(
            known.filter(({ from, block }) => from === params[0] && block !== undefined && block <= Number(params[1]))
              .length,
          ),
        )
      case 'eth_getCode':
        return result(this.contracts.includes(params[0]) ? '0x6001' : '0x')
      default:
        return { error: { code: -32601, message: `the method ${method} does not exist` } }
    }
  }
}

function wire({ hash, from, nonce, to, value, block }: Mined): object {
  const place =
    block === undefined
      ? { blockHash: null, blockNumber: null }
      : { blockHash: blockHash(block), blockNumber: hex(block) }
  return { hash, from, nonce: hex(nonce), to, value: hex(value), ...place }
}

export function word(text: string): string {
  return `0x${text.repeat(64).slice(0, 64)}`
}

function blockHash(number: number): string {
  return `0x${number.toString(16).padStart(64, 'b')}`
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}
