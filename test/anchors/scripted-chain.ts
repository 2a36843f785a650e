/** A chain in a file, with one account: what it holds outlives every process, and each moment of it is the test's to say. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import {
  type Anchorer,
  AnchorerError,
  type AnchorerErrorCode,
  type AnchorSighting,
  type AnchorSubject,
  type SignedAnchor,
} from '@claimcheck/core/plugin'
import { toBase64url } from '@claimcheck/core/receipts'

interface Transaction {
  readonly txHash: string
  readonly nonce: number
  readonly fee: number
  /** Of whom it is an attestation: null for a transaction of somebody else's making. */
  readonly of: {
    readonly from: string
    readonly logId: string
    readonly treeSize: number
    readonly rootHash: string
    readonly refUid: string | null
  } | null
  readonly reverts: boolean
}

interface State {
  readonly height: number
  readonly nonce: number
  readonly pool: readonly Transaction[]
  readonly mined: readonly (Transaction & { readonly block: number })[]
  /** Every transaction that was ever signed, or sent. */
  readonly signed: readonly string[]
  readonly sent: readonly string[]
  /** What the next calls of a method come to. */
  readonly failures: readonly {
    readonly method: string
    readonly code: AnchorerErrorCode
    readonly retryAfterMs?: number
  }[]
}

/** So many blocks on top make one final. */
const DEPTH = 2
const BEGINNING: State = { height: 0, nonce: 0, pool: [], mined: [], signed: [], sent: [], failures: [] }

export class ScriptedChain {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  get state(): State {
    return existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : BEGINNING
  }

  #change(change: (state: State) => Partial<State>): void {
    const { state } = this
    const written = `${this.#file}.${randomUUID()}`
    writeFileSync(written, JSON.stringify({ ...state, ...change(state) }))
    renameSync(written, this.#file)
  }

  /** A block with what waits. */
  mine(blocks = 1): void {
    for (let block = 0; block < blocks; block++) {
      this.#change(({ height, nonce, pool, mined }) => {
        const next = pool.filter((transaction) => transaction.nonce === nonce)
        const added = next.slice(0, 1).map((transaction) => ({ ...transaction, block: height + 1 }))
        return {
          height: height + 1,
          nonce: nonce + added.length,
          mined: [...mined, ...added],
          pool: pool.filter((transaction) => transaction.nonce > nonce),
        }
      })
    }
  }

  /** The newest block is replaced by another one; what was in it waits again, or is forgotten. */
  reorg({ forget = false } = {}): void {
    this.#change(({ height, nonce, pool, mined }) => {
      const undone = mined.filter(({ block }) => block === height)
      return {
        mined: mined.filter(({ block }) => block !== height),
        nonce: nonce - undone.length,
        pool: forget ? pool : [...pool, ...undone],
      }
    })
  }

  /** Nodes forget what waits. */
  forget(): void {
    this.#change(() => ({ pool: [] }))
  }

  /** Somebody else uses the account. */
  takeNonce(): void {
    this.#change(({ pool, nonce }) => ({
      pool: [{ txHash: randomUUID(), nonce, fee: Number.MAX_SAFE_INTEGER, of: null, reverts: false }, ...pool],
    }))
  }

  /** What waits will land and come to nothing. */
  revertNext(): void {
    this.#change(({ pool }) => ({ pool: pool.map((transaction) => ({ ...transaction, reverts: true })) }))
  }

  fail(method: keyof Anchorer, code: AnchorerErrorCode, retryAfterMs?: number): void {
    this.#change(({ failures }) => ({
      failures: [...failures, { method, code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }],
    }))
  }

  /** The roots that are attested, each as often as it is. */
  get attested(): string[] {
    return this.state.mined.flatMap(({ of, reverts }) => (of && !reverts ? `${of.logId} ${of.treeSize}` : []))
  }

  isFinal(uid: string): boolean {
    const { mined, height } = this.state
    return mined.some((transaction) => uidOf(transaction) === uid && transaction.block <= height - DEPTH)
  }

  takeFailure(method: string): void {
    const failure = this.state.failures.find((planned) => planned.method === method)
    if (!failure) return
    this.#change(({ failures }) => {
      const rest = [...failures]
      rest.splice(
        rest.findIndex((planned) => planned.method === method),
        1,
      )
      return { failures: rest }
    })
    const { code, retryAfterMs } = failure
    throw new AnchorerError(code, `scripted: ${code}`, retryAfterMs === undefined ? {} : { retryAfterMs })
  }

  keepSigned(txHash: string): void {
    this.#change(({ signed }) => ({ signed: [...signed, txHash] }))
  }

  send({ raw, txHash }: SignedAnchor): void {
    const transaction = JSON.parse(raw) as Transaction
    this.#change(({ pool, nonce, mined, sent }) => {
      const isKnown = [...pool, ...mined].some((known) => known.txHash === txHash)
      const rival = pool.find((known) => known.nonce === transaction.nonce)
      const isRefused = isKnown || transaction.nonce < nonce || (rival && rival.fee >= transaction.fee)
      const others = pool.filter((known) => known !== rival)
      return { sent: [...sent, txHash], ...(isRefused ? {} : { pool: [...others, { ...transaction, txHash }] }) }
    })
  }

  look(
    { logId, treeSize, rootHash }: AnchorSubject,
    signed: readonly SignedAnchor[],
    { chain, account }: { readonly chain: string; readonly account: string },
  ): AnchorSighting {
    const { mined, height, pool } = this.state
    const hashes = signed.map(({ txHash }) => txHash)
    const from = signed[0] ? (JSON.parse(signed[0].raw) as Transaction).of?.from : account
    const isOfSubject = ({ of, reverts }: Transaction) =>
      !reverts &&
      of !== null &&
      of.from === from &&
      of.logId === logId &&
      of.treeSize === treeSize &&
      of.rootHash === toBase64url(rootHash)
    const landed = mined.find((transaction) => hashes.includes(transaction.txHash) || isOfSubject(transaction))
    const rival = mined.find(({ nonce }) => nonce === signed[0]?.nonce)
    if (rival && !landed) {
      const isFinal = rival.block <= height - DEPTH
      return isFinal ? { state: 'dropped', problem: 'nonce_taken' } : { state: 'waiting', isKnown: true }
    }
    if (!landed) return { state: 'waiting', isKnown: pool.some(({ txHash }) => txHash === hashes.at(-1)) }
    const { txHash, block: blockNumber } = landed
    if (blockNumber > height - DEPTH) return { state: 'mined', txHash, blockNumber }
    if (landed.reverts) return { state: 'dropped', problem: 'reverted' }
    const where = {
      chain,
      scheme: 'eas',
      uid: uidOf(landed),
      txHash,
      blockNumber,
      blockTime: 1_790_000_000 + blockNumber,
    }
    return {
      state: 'final',
      anchor: { ...where, treeSize, rootHash: toBase64url(rootHash) },
      cost: '100000000000000000001',
      gasUsed: logId.length,
    }
  }
}

/** With the block in it, as real ones have its time: in another block it is another one. */
function uidOf({ txHash, block }: { readonly txHash: string; readonly block: number }): string {
  return `0x${createHash('sha256').update(`${txHash} ${block}`).digest('hex')}`
}

export interface ScriptedOptions {
  readonly chain?: string
  readonly account?: string
  readonly intervalMs?: number
  readonly stuckAfterMs?: number
  /** Each look finds the chain one block further. */
  readonly isMining?: boolean
}

export function createScriptedAnchorer(chain: ScriptedChain, options: ScriptedOptions = {}): Anchorer {
  const { chain: id = 'scripted:1', account = '0xaccount', intervalMs = 60_000, stuckAfterMs = 10_000 } = options
  return {
    chain: id,
    scheme: 'eas',
    intervalMs,
    stuckAfterMs,
    identity: () => ({ attester: account, schema: '0xschema' }),
    async account() {
      chain.takeFailure('account')
      return { address: account, balance: '1000000000000000000' }
    },
    async prepare() {
      chain.takeFailure('prepare')
    },
    async sign({ logId, treeSize, rootHash, previous }, earlier) {
      chain.takeFailure('sign')
      const fee = 4 * (1 + earlier.length)
      const nonce = earlier[0]?.nonce ?? chain.state.nonce
      const of = { from: account, logId, treeSize, rootHash: toBase64url(rootHash), refUid: previous?.uid ?? null }
      // No two signatures are alike, so that a test sees each that was made.
      const raw = JSON.stringify({ nonce, fee, of, reverts: false, salt: randomUUID() })
      const txHash = `0x${createHash('sha256').update(raw).digest('hex')}`
      chain.keepSigned(txHash)
      return { txHash, nonce, raw, maxFee: String(2 * fee), priorityFee: String(fee) }
    },
    async send(signed) {
      chain.takeFailure('send')
      chain.send(signed)
    },
    async look(subject, signed) {
      chain.takeFailure('look')
      if (options.isMining) chain.mine()
      return chain.look(subject, signed, { chain: id, account })
    },
  }
}
