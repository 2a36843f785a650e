/** Nodes of a scripted chain by JSON-RPC over HTTP: the methods of `execution-apis`, and how geth, Erigon, Nethermind, Infura and Alchemy say what they cannot. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Block, digest, type EventLog, type EvmChain, type Placement, type Transaction } from './evm-chain.ts'

export type Client = 'geth' | 'erigon' | 'nethermind' | 'infura' | 'alchemy'

/** One node's view of a chain. */
export interface NodeView {
  readonly chain: EvmChain
  readonly client?: Client
  /** How far behind its view is. */
  readonly lagMs?: number
  /** The moment at which it stopped to follow the chain. */
  readonly stuckAt?: number
  /** How many blocks of state it has; 128 of a usual node. */
  readonly states?: number
  /** How many blocks it finds transactions and receipts in. */
  readonly indexed?: number
  /** What it says to the tag `finalized`: the block, an error of one who does not know it, or `null`. */
  readonly finalized?: 'block' | 'unknown tag' | 'not found' | 'null'
  /** Writes addresses as EIP-55 or in capitals, as some proxies do. */
  readonly spell?: (hex: string) => string
  /** Forgets the `chainId` of transactions and blocks' names of newer forks, as old clients do. */
  readonly isOld?: boolean
  /** The id that it says, where it is not the chain's. */
  readonly saysId?: number
}

export interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** An answer in place of a node's: an HTTP status with its body. */
export interface Refusal {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Endpoint {
  /** Several answer in turn, as behind a load balancer. */
  readonly nodes: readonly NodeView[]
  readonly now: () => number
  /** The path and the key after it; `/` of an own node. */
  readonly path?: string | undefined
  readonly key?: string | undefined
  /** Answers in place of the nodes. */
  readonly instead?: ((call: Call, at: number) => Refusal | undefined) | undefined
  /** What answers from a moment on, in place of the nodes. */
  readonly after?: { readonly at: number; readonly nodes: readonly NodeView[] } | undefined
  /** The hash that the endpoint takes for every other in calls of a method, or of both that name one. */
  readonly mistaken?: { readonly method: string; readonly hash: string } | undefined
  /** How far the clock of the endpoint is off. */
  readonly clockMs?: number
}

export interface RunningEndpoint {
  readonly url: string
  readonly calls: readonly Call[]
  close(): Promise<void>
}

class RpcError extends Error {
  readonly code: number
  readonly status: number

  constructor(code: number, message: string, status = 200) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** Of a node that keeps all states. */
export const ARCHIVE = Number.POSITIVE_INFINITY
const USUAL_STATES = 128

export async function startEndpoint(endpoint: Endpoint): Promise<RunningEndpoint> {
  const { nodes, after, mistaken, now, path = '', key, instead, clockMs = 0 } = endpoint
  const calls: Call[] = []
  const place = key === undefined ? path : `${path}/${key}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    response.setHeader('date', new Date(now() + clockMs).toUTCString())
    if (request.method !== 'POST') return write(response, { status: 405, body: 'Method Not Allowed' })
    if (trimmed(request.url ?? '') !== trimmed(place)) return write(response, NO_PROJECT)
    const call = JSON.parse(body) as Call
    calls.push(call)
    const refusal = instead?.(call, now())
    if (refusal) return write(response, refusal)
    const serving = after && now() >= after.at ? after.nodes : nodes
    const node = serving[(calls.length - 1) % serving.length]!
    write(response, answerOf(node, meant(call), now()))
  }

  function meant(call: Call): Call {
    const isMistaken = call.method === mistaken?.method || (mistaken?.method === 'both' && OF_A_HASH.has(call.method))
    return isMistaken ? { ...call, params: [mistaken.hash] } : call
  }

  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const OF_A_HASH: ReadonlySet<string> = new Set(['eth_getTransactionByHash', 'eth_getTransactionReceipt'])
const NO_PROJECT: Refusal = { status: 401, body: 'invalid project id\n' }

function trimmed(path: string): string {
  return path.replace(/\/$/, '')
}

function write(response: ServerResponse, { status, body, headers = {} }: Refusal): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body))
}

function answerOf(node: NodeView, { id, method, params }: Call, now: number): Refusal {
  try {
    const at = Math.min(now - (node.lagMs ?? 0), node.stuckAt ?? Number.POSITIVE_INFINITY)
    return { status: 200, body: { jsonrpc: '2.0', id, result: resultOf(node, method, params, at) } }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { code, message, status } = error
    return { status, body: { jsonrpc: '2.0', id, error: { code, message } } }
  }
}

function resultOf(node: NodeView, method: string, params: readonly unknown[], at: number): unknown {
  const { chain } = node
  const [first, second] = params as readonly [string, string]
  switch (method) {
    case 'eth_chainId':
      return quantity(node.saysId ?? chain.kind.chainId)
    case 'net_version':
      return String(node.saysId ?? chain.kind.chainId)
    case 'web3_clientVersion':
      return `${node.client ?? 'geth'}/v1.0.0/linux-amd64`
    case 'eth_syncing':
      return false
    case 'eth_blockNumber':
      return quantity(chain.head(at))
    case 'eth_getBlockByNumber':
      return shownBlock(node, blockOf(node, first, at), second as unknown as boolean)
    case 'eth_getBlockByHash':
      return shownBlock(node, chain.blockByHash(first.toLowerCase(), at), second as unknown as boolean)
    case 'eth_getTransactionByHash':
      return shownTransaction(node, hashOf(first), at)
    case 'eth_getTransactionReceipt':
      return shownReceipt(node, hashOf(first), at)
    case 'eth_getBlockReceipts': {
      const block = blockOf(node, first, at)
      return block ? block.placements.map(({ transaction: { hash } }) => shownReceipt(node, hash, at)) : null
    }
    case 'eth_getTransactionCount':
      return quantity(chain.nonce(first, stateOf(node, second, at), at))
    case 'eth_getCode':
      return chain.code(first, stateOf(node, second, at))
    default:
      throw new RpcError(-32601, `the method ${method} does not exist/is not available`)
  }
}

function hashOf(hash: string): string {
  if (!/^0x[0-9a-fA-F]{64}$/.test(hash)) {
    throw new RpcError(-32602, 'invalid argument 0: hex string has length 62, want 64 for common.Hash')
  }
  return hash.toLowerCase()
}

/** The block of a number or a tag; undefined where there is none yet. */
function blockOf({ chain, finalized = 'block' }: NodeView, tag: unknown, at: number): Block | undefined {
  if (tag === 'latest' || tag === 'pending') return chain.block(chain.head(at), at)
  if (tag === 'earliest') return chain.block(0, at)
  if (tag === 'safe' || tag === 'finalized') {
    if (finalized === 'block') return chain.block(chain.finalized(at), at)
    if (finalized === 'null') return undefined
    throw finalized === 'not found'
      ? new RpcError(-39001, 'Unknown block')
      : new RpcError(-32602, `invalid argument 0: hex string without 0x prefix`)
  }
  if (typeof tag !== 'string' || !/^0x(?:0|[1-9a-f][0-9a-f]*)$/i.test(tag)) {
    throw new RpcError(-32602, 'invalid argument 0: json: cannot unmarshal hex number with leading zero digits')
  }
  return chain.block(Number(tag), at)
}

/** The number of the block whose state is asked for. @throws RpcError where the node has that state no more, or not yet */
function stateOf(node: NodeView, tag: unknown, at: number): number {
  const { chain, client = 'geth', states = USUAL_STATES } = node
  const { blockHash, blockNumber } = (typeof tag === 'object' && tag !== null ? tag : {}) as Record<string, string>
  const block = blockHash === undefined ? blockOf(node, blockNumber ?? tag, at) : chain.blockByHash(blockHash, at)
  if (!block) throw new RpcError(-32000, 'header not found')
  if (chain.head(at) - block.number >= states) throw missingState(client, block)
  return block.number
}

function missingState(client: Client, { hash, number }: Block): RpcError {
  const root = digest(`state ${hash}`)
  switch (client) {
    case 'erigon':
      return new RpcError(-32000, `state at block ${number} is pruned: old data not available due to pruning`)
    case 'nethermind':
      return new RpcError(-32002, `No state available for block ${number} (${hash})`)
    case 'infura':
      return new RpcError(-32002, 'project ID does not have access to archive state')
    default:
      return new RpcError(
        -32000,
        `missing trie node ${root.slice(2)} (path ) state ${root} is not available, not found`,
      )
  }
}

function isIndexed({ chain, indexed = Number.POSITIVE_INFINITY }: NodeView, { number }: Placement, at: number) {
  return chain.head(at) - number < indexed
}

function shownBlock(node: NodeView, block: Block | undefined, isFull: boolean): unknown {
  if (!block) return null
  const { number, hash, parentHash, timestamp, placements } = block
  return {
    number: quantity(number),
    hash,
    parentHash,
    timestamp: quantity(timestamp),
    nonce: '0x0000000000000000',
    sha3Uncles: digest('no uncles'),
    logsBloom: `0x${'0'.repeat(512)}`,
    transactionsRoot: digest(`transactions ${hash}`),
    stateRoot: digest(`state ${hash}`),
    receiptsRoot: digest(`receipts ${hash}`),
    miner: spelt(node, `0x${'95'.repeat(20)}`),
    difficulty: '0x0',
    extraData: '0x',
    size: '0x2a3',
    gasLimit: '0x3938700',
    gasUsed: quantity(placements.length * 21_000),
    baseFeePerGas: '0x3b9aca00',
    mixHash: digest(`mix ${hash}`),
    uncles: [],
    transactions: placements.map((placement) =>
      isFull ? inBlock(node, placement, block) : placement.transaction.hash,
    ),
  }
}

function shownTransaction(node: NodeView, hash: string, at: number): unknown {
  const { chain } = node
  const placement = chain.placementOf(hash, at)
  if (placement && isIndexed(node, placement, at)) return inBlock(node, placement, chain.block(placement.number, at)!)
  const waiting = placement ? undefined : chain.waiting(hash, at)
  if (waiting) return { ...signed(node, waiting), blockHash: null, blockNumber: null, transactionIndex: null }
  return null
}

function inBlock(node: NodeView, { transaction, number }: Placement, block: Block): object {
  const index = block.placements.findIndex((other) => other.transaction.hash === transaction.hash)
  return {
    ...signed(node, transaction),
    blockHash: block.hash,
    blockNumber: quantity(number),
    blockTimestamp: quantity(block.timestamp),
    transactionIndex: quantity(index),
  }
}

function signed(node: NodeView, transaction: Transaction): object {
  const { hash, from, to, nonce, value, type, input, authorizations } = transaction
  const chainId = quantity(node.chain.kind.chainId)
  const common = {
    hash,
    type: quantity(type),
    nonce: quantity(nonce),
    from: spelt(node, from),
    to: to === null ? null : spelt(node, to),
    value: quantity(value),
    gas: '0x5208',
    gasPrice: '0x4a817c800',
    input,
    v: '0x0',
    r: digest(`r ${hash}`),
    s: digest(`s ${hash}`),
  }
  if (type === 0x7e)
    return { ...common, sourceHash: digest(`source ${hash}`), mint: quantity(value), isSystemTx: false }
  if (type === 0) return node.isOld ? omitType(common) : { ...common, chainId }
  const fees = {
    maxFeePerGas: '0x59682f000',
    maxPriorityFeePerGas: '0x3b9aca00',
    accessList: [],
    yParity: '0x0',
    chainId,
  }
  if (type !== 4) return { ...common, ...fees }
  const list = authorizations.map(({ authority, nonce }) => ({
    chainId,
    address: spelt(node, `0x${'de'.repeat(20)}`),
    nonce: quantity(nonce),
    yParity: '0x1',
    r: digest(`r ${authority}`),
    s: digest(`s ${authority}`),
  }))
  return { ...common, ...fees, authorizationList: list }
}

function omitType({ type: _, ...rest }: Readonly<Record<string, unknown>>): object {
  return rest
}

function shownReceipt(node: NodeView, hash: string, at: number): unknown {
  const { chain } = node
  const placement = chain.placementOf(hash, at)
  if (!placement || !isIndexed(node, placement, at)) return null
  const block = chain.block(placement.number, at)!
  const { transaction, status, logs } = placement
  const index = block.placements.findIndex((other) => other.transaction.hash === hash)
  const position = {
    transactionHash: hash,
    transactionIndex: quantity(index),
    blockHash: block.hash,
    blockNumber: quantity(block.number),
  }
  const isCreation = transaction.to === null
  return {
    ...position,
    type: quantity(transaction.type),
    from: spelt(node, transaction.from),
    to: transaction.to === null ? null : spelt(node, transaction.to),
    cumulativeGasUsed: quantity((index + 1) * 21_000),
    gasUsed: '0x5208',
    effectiveGasPrice: '0x4a817c800',
    contractAddress: isCreation ? spelt(node, createdBy(transaction)) : null,
    logsBloom: `0x${'0'.repeat(512)}`,
    logs: logs.map((log, logIndex) => shownLog(node, log, { ...position, logIndex: quantity(logIndex) }, block)),
    ...(status === 'root' ? { root: digest(`state after ${hash}`) } : { status: quantity(status) }),
  }
}

function shownLog(node: NodeView, { contract, topics, data = '0x' }: EventLog, position: object, block: Block): object {
  const blockTimestamp = quantity(block.timestamp)
  return { address: spelt(node, contract), topics, data, ...position, blockTimestamp, removed: false }
}

/** The address of the contract that a transaction creates. */
export function createdBy({ hash }: Transaction): string {
  return digest(`created by ${hash}`).slice(0, 42)
}

function spelt({ spell = (hex) => hex }: NodeView, address: string): string {
  return spell(address.toLowerCase())
}

function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** Refuses all calls for some time, as Infura does beyond a plan. */
export function limitedBetween(from: number, until: number): Endpoint['instead'] {
  return ({ id }, at) =>
    from <= at && at < until
      ? {
          status: 429,
          body: { jsonrpc: '2.0', id, error: { code: -32005, message: 'project ID request rate exceeded' } },
        }
      : undefined
}

/** Refuses all calls for some time with status 200, as EIP-1474 has it. */
export function limitedInBody(from: number, until: number): Endpoint['instead'] {
  return ({ id }, at) =>
    from <= at && at < until
      ? { status: 200, body: { jsonrpc: '2.0', id, error: { code: -32005, message: 'limit exceeded' } } }
      : undefined
}

/** Refuses some calls always: those of a method at a key. */
export function refusing(method: string, code: number, message: string): Endpoint['instead'] {
  return (call) =>
    call.method === method
      ? { status: 200, body: { jsonrpc: '2.0', id: call.id, error: { code, message } } }
      : undefined
}

/** Has no block 0, as nodes that began at a later state. */
export const withoutFirst: Endpoint['instead'] = ({ id, method, params }) =>
  method === 'eth_getBlockByNumber' && params[0] === '0x0'
    ? { status: 200, body: { jsonrpc: '2.0', id, error: { code: 4444, message: 'Pruned history unavailable' } } }
    : undefined
