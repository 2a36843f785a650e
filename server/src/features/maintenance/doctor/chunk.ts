/** Checks a chunk of leaves: compares each receipt with its claim and checks, and hashes it. */
import { HASH_BYTES } from '@claimcheck/core/log'
import { createProblems } from '../../../base/problems.ts'
import type { Reads } from '../../../storage/storage.ts'
import { createKeyRing } from './key-ring.ts'
import { examineReceipt } from './receipt-examination.ts'
import { claimOfRow, type HeadBounds, receiptOfRow } from './stored.ts'

/** A range of leaves that were added by the same signed head. */
export interface Segment extends HeadBounds {
  readonly start: number
  readonly end: number
}

export interface Chunk {
  readonly logId: string
  /** Consecutive ranges of leaves. */
  readonly segments: readonly Segment[]
  /** Verify the signature of each receipt, too. */
  readonly signatures: boolean
}

export interface CheckedChunk {
  /** The number of the first leaf. */
  readonly start: number
  /** Of each leaf of the chunk, one after the other, 32 bytes: the hash of its entry. */
  readonly derived: Uint8Array
  /** The same, as stored. */
  readonly stored: Uint8Array
  /** The leaves without a receipt. */
  readonly missing: ReadonlySet<number>
  readonly problems: readonly string[]
}

export type CheckChunk = (chunk: Chunk) => Promise<CheckedChunk>

const LEAVES_PER_READ = 256

export function chunkChecker({ doctor, log }: Pick<Reads, 'doctor' | 'log'>): CheckChunk {
  async function read(logId: string, from: number, to: number) {
    const rows = await doctor.receipts(logId, from, to)
    return rows.map((row) => ({ receipt: receiptOfRow(row), claim: claimOfRow(row) }))
  }

  /** The database reads while this thread examines. */
  async function* readAhead(logId: string, start: number, end: number) {
    let next = read(logId, start, Math.min(end, start + LEAVES_PER_READ))
    for (let from = start + LEAVES_PER_READ; from < end; from += LEAVES_PER_READ) {
      const rows = await next
      next = read(logId, from, Math.min(end, from + LEAVES_PER_READ))
      next.catch(() => {})
      yield rows
    }
    yield await next
  }

  return async ({ logId, segments, signatures }) => {
    const keys = signatures ? createKeyRing(await log.signingKeys()) : undefined
    // Damaged heads may be out of order.
    const start = Math.min(segments[0]?.start ?? 0, ...segments.map((segment) => segment.start))
    const end = Math.max(start, ...segments.map((segment) => segment.end))
    const derived = new Uint8Array((end - start) * HASH_BYTES)
    const stored = new Uint8Array(derived.length)
    const missing = new Set(Array.from({ length: end - start }, (_, index) => start + index))
    const problems = createProblems()

    async function examine({ receipt, claim }: Awaited<ReturnType<typeof read>>[number]): Promise<void> {
      const leaf = receipt.leafIndex
      const bounds = segments.find((segment) => leaf < segment.end)!
      const { leafHash, problems: found } = await examineReceipt(receipt, claim, bounds, keys)
      for (const problem of found) problems.add(problem)
      derived.set(leafHash, (leaf - start) * HASH_BYTES)
      const asStored = receipt.leafHash
      stored.set(asStored.length === HASH_BYTES ? asStored : leafHash, (leaf - start) * HASH_BYTES)
      missing.delete(leaf)
    }

    for await (const rows of readAhead(logId, start, end)) {
      for (const row of rows) await examine(row)
    }
    return { start, derived, stored, missing, problems: problems.list }
  }
}
