/** A row of the trap table: what happens on a chain, what is claimed of it, and the verdict that is right. */
import type { TrapRow } from '../../../../test/traps/verifier-table.ts'
import { digest, type EvmChain, lower, sign, type Transaction } from './evm-chain.ts'
import type { Endpoint, NodeView } from './rpc-node.ts'

export interface Scene {
  readonly chain: EvmChain
  /** What reads the chain; one archive node, when left out. */
  readonly nodes?: readonly NodeView[]
  readonly instead?: Endpoint['instead']
  /** What reads it from a moment on. */
  readonly after?: NonNullable<Endpoint['after']>
  /** A proxy that mixes up what is asked for. */
  readonly mistaken?: NonNullable<Endpoint['mistaken']>
  readonly clockMs?: number
  /** The path of the endpoint; `/v3` with a key, and none without. */
  readonly path?: string
  /** What the connection says, where it is not what the endpoint is. */
  readonly connection?: Readonly<Record<string, string>>
  readonly key?: string
  /** The chain that the target and the connection name, where it is not that of the chain. */
  readonly chainId?: string
  readonly params: Readonly<Record<string, unknown>>
  /** When the agent says that it did it; the start, when left out. */
  readonly claimedMs?: number
  /** A second after the claim, when left out. */
  readonly submittedMs?: number
  /** After the claim; the profile's, when left out. */
  readonly deadlineMs?: number
  /** What the facts of the deciding check must have; `undefined`: must not. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export type Row = TrapRow<Scene>

export const ALICE = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
export const BOB = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
export const CAROL = '0x53d284357ec70cE289D6D64134DfAc8E511c8a3D'
/** Signs for others. */
export const BUNDLER = '0x4337001Fff419768e088CE247456c1B892888084'
export const SAFE = '0x849D52316331967b6fF1198e5E32A0eB168D039d'
export const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
export const FAKE_TOKEN = '0x1111111254EEB25477B68fb85Ed929f73A960582'
export const SPLITTER = '0xD152f549545093347A162Dce210e7293f1452150'
export const SOME_CODE = '0x6080604052600080fd'
/** The code of an account that has delegated to a contract (EIP-7702). */
export const DELEGATED = `0xef0100${'de'.repeat(20)}`

/** `Transfer(address,address,uint256)` of ERC-20. */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
export const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

export const ETHER = 10n ** 18n

/** An address as a topic. */
export function topicOf(address: string): string {
  return `0x${lower(address).slice(2).padStart(64, '0')}`
}

export function transferOf(from: string, to: string, contract = TOKEN) {
  return {
    contract,
    topics: [TRANSFER, topicOf(from), topicOf(to)],
    data: digest('a million').replace(/^..../, '0x00'),
  }
}

/** Alice's usual transaction: an ether for Bob. */
export function payment(given: Partial<Transaction> = {}): Transaction {
  return sign({ from: ALICE, to: BOB, nonce: 7, value: ETHER, ...given })
}

/** Alice calls the token. */
export function tokenCall(given: Partial<Transaction> = {}): Transaction {
  return sign({ from: ALICE, to: TOKEN, nonce: 7, input: '0xa9059cbb', ...given })
}

/** Names everything that a transaction is. */
export function named({ hash, from, nonce, to, value }: Transaction) {
  return { hash, sender: from, nonce, ...(to !== null && { recipient: to }), value: String(value) }
}
