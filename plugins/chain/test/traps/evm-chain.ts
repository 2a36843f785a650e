/** An EVM chain as a function of time: what its nodes know at a moment follows from what was scripted, so nothing has to be mined. */
import { createHash } from 'node:crypto'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

export interface ChainKind {
  readonly chainId: number
  readonly slotMs: number
  /** The number of the block that is the head at `start`. */
  readonly startNumber: number
  /** The number of the final block by the head's. */
  readonly finalized: (head: number) => number
  /** Milliseconds from a block's time to its arrival at nodes. */
  readonly arrivesMs: number
  /** The hash of block 0. */
  readonly genesis: string
}

/** Ethereum: slots of 12 s, and an epoch of 32 slots is final when the second one after it begins. */
export const ETHEREUM: ChainKind = {
  chainId: 1,
  slotMs: 12 * SECOND,
  startNumber: 24_600_011,
  finalized: (head) => 32 * (Math.floor(head / 32) - 2),
  arrivesMs: 3 * SECOND,
  genesis: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
}

/** A second layer of the OP stack: blocks of 2 s, final by batches when the first layer's block of the batch is. */
export const SECOND_LAYER: ChainKind = {
  chainId: 8453,
  slotMs: 2 * SECOND,
  startNumber: 41_800_000,
  finalized: (head) => 60 * Math.floor((head - 870) / 60),
  arrivesMs: SECOND,
  genesis: '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
}

/** Arbitrum: four blocks a second, of which each tells whole seconds. */
export const FAST_LAYER: ChainKind = {
  chainId: 42161,
  slotMs: 250,
  startNumber: 439_000_000,
  finalized: (head) => 240 * Math.floor((head - 4_800) / 240),
  arrivesMs: 250,
  genesis: '0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442',
}

export interface EventLog {
  readonly contract: string
  readonly topics: readonly string[]
  readonly data?: string
}

/** What someone signed. */
export interface Transaction {
  readonly hash: string
  readonly from: string
  /** Null where it creates a contract. */
  readonly to: string | null
  readonly nonce: number
  readonly value: bigint
  /** 0 legacy, 2 with dynamic fees, 4 with authorizations (EIP-7702), 0x7e a deposit of the OP stack. */
  readonly type: number
  readonly input: string
  readonly authorizations: readonly { readonly authority: string; readonly nonce: number }[]
}

/** A transaction in a block. */
export interface Placement {
  readonly transaction: Transaction
  readonly number: number
  readonly branch: string
  /** `root`: a receipt from before Byzantium, which has the state's root in place of a status. */
  readonly status: 0 | 1 | 'root'
  readonly logs: readonly EventLog[]
}

export interface Block {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** In seconds. */
  readonly timestamp: number
  readonly placements: readonly Placement[]
}

interface Branch {
  readonly name: string
  /** The first block that it replaces. */
  readonly from: number
  readonly knownAt: number
}

const MAIN = 'main'

interface Period {
  readonly from: number
  readonly until: number
}

export class EvmChain {
  readonly kind: ChainKind
  readonly #genesisAt: number
  readonly #clockAheadMs: number
  readonly #branches: Branch[] = []
  readonly #placements: Placement[] = []
  readonly #waiting: ({ readonly transaction: Transaction } & Period)[] = []
  readonly #nonces = new Map<string, number>()
  readonly #codes: { readonly address: string; readonly from: number; readonly code: string }[] = []
  readonly #stalls: Period[] = []

  /** @param clockAheadMs by how much the times of blocks are ahead of true time */
  constructor(kind: ChainKind, start: number, clockAheadMs = 0) {
    this.kind = kind
    // The head is a third of a slot old at the start.
    this.#genesisAt = start - kind.startNumber * kind.slotMs - Math.floor(kind.slotMs / 3)
    this.#clockAheadMs = clockAheadMs
  }

  /** Gives an account its next nonce, as it is before everything that is scripted. */
  setNonce(address: string, nonce: number): void {
    this.#nonces.set(lower(address), nonce)
  }

  /** Gives an account code from a moment on; `0x` takes it away. */
  setCode(address: string, code: string, from = 0): void {
    this.#codes.push({ address: lower(address), from: this.numberFrom(from), code })
  }

  /** Keeps a transaction among those that wait. */
  pend(transaction: Transaction, { from, until }: Period): void {
    this.#waiting.push({ transaction, from, until })
  }

  /** Puts a transaction into the first block whose time is this one or later. @returns the block's number */
  include(
    transaction: Transaction,
    at: number,
    { status = 1, logs = [], branch = MAIN }: Partial<Omit<Placement, 'transaction' | 'number'>> = {},
  ): number {
    const number = this.numberFrom(at)
    this.#placements.push({ transaction, number, branch, status, logs })
    return number
  }

  /** Replaces all blocks from a number on by another branch, which nodes know from a moment on. */
  reorganize(name: string, from: number, knownAt: number): void {
    this.#branches.push({ name, from, knownAt })
  }

  /** Stops finality for some time: the final block stays what it was. */
  stall({ from, until = Number.POSITIVE_INFINITY }: { readonly from: number; readonly until?: number }): void {
    this.#stalls.push({ from, until })
  }

  numberFrom(at: number): number {
    return Math.ceil((at - this.#genesisAt) / this.kind.slotMs)
  }

  head(at: number): number {
    return Math.floor((at - this.kind.arrivesMs - this.#genesisAt) / this.kind.slotMs)
  }

  finalized(at: number): number {
    const stall = this.#stalls.find(({ from, until }) => from <= at && at < until)
    return this.kind.finalized(this.head(stall?.from ?? at))
  }

  block(number: number, at: number): Block | undefined {
    if (number < 0 || number > this.head(at)) return undefined
    const placements = this.#placements.filter(
      (placement) => placement.number === number && placement.branch === this.#branchOf(number, at),
    )
    const timestamp = Math.floor((this.#genesisAt + number * this.kind.slotMs + this.#clockAheadMs) / SECOND)
    return { number, hash: this.#hash(number, at), parentHash: this.#hash(number - 1, at), timestamp, placements }
  }

  blockByHash(hash: string, at: number): Block | undefined {
    const numbers = new Set(this.#placements.map(({ number }) => number))
    const head = this.head(at)
    for (let back = 0; back < 1000; back++) numbers.add(head - back)
    const number = [...numbers].find((number) => number <= head && this.#hash(number, at) === hash)
    return number === undefined ? undefined : this.block(number, at)
  }

  placementOf(hash: string, at: number): Placement | undefined {
    return this.#canonical(at).find(({ transaction }) => transaction.hash === hash)
  }

  waiting(hash: string, at: number): Transaction | undefined {
    return this.#waiting.find(({ transaction, from, until }) => transaction.hash === hash && from <= at && at < until)
      ?.transaction
  }

  nonce(address: string, number: number, at: number): number {
    const own = lower(address)
    const used = this.#canonical(at)
      .filter((placement) => placement.number <= number)
      .map(({ transaction: { from, authorizations } }) => {
        const authorized = authorizations.filter(({ authority }) => lower(authority) === own)
        return Number(lower(from) === own) + authorized.length
      })
    return (this.#nonces.get(own) ?? 0) + used.reduce((sum, count) => sum + count, 0)
  }

  code(address: string, number: number): string {
    const own = lower(address)
    return this.#codes.findLast((code) => code.address === own && code.from <= number)?.code ?? '0x'
  }

  #canonical(at: number): Placement[] {
    const head = this.head(at)
    return this.#placements.filter(({ number, branch }) => number <= head && branch === this.#branchOf(number, at))
  }

  #branchOf(number: number, at: number): string {
    return this.#branches.findLast(({ from, knownAt }) => from <= number && knownAt <= at)?.name ?? MAIN
  }

  #hash(number: number, at: number): string {
    return number <= 0 ? this.kind.genesis : digest(`${this.kind.genesis} ${number} ${this.#branchOf(number, at)}`)
  }
}

/** Makes a transaction with a hash of its own. */
export function sign(given: Pick<Transaction, 'from' | 'nonce'> & Partial<Transaction>): Transaction {
  const { to = null, value = 0n, type = 2, input = '0x', authorizations = [], from, nonce } = given
  const signed = { from: lower(from), to: to === null ? null : lower(to), nonce, value, type, input, authorizations }
  const hash = given.hash ?? digest(JSON.stringify({ ...signed, value: String(value) }))
  return { ...signed, hash }
}

export function digest(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

export function lower(hex: string): string {
  return hex.toLowerCase()
}
