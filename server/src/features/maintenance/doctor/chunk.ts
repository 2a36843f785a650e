/** Checks a chunk of leaves: compares each receipt with its claim and checks, and hashes it. */

import type { Problems } from '../../../base/problems.ts'
import type { Reads } from '../../../storage/storage.ts'
import type { KeyRing } from './key-ring.ts'
import { type Examination, examineReceipt, type HeadBounds } from './receipt-examination.ts'
import { claimsWithChecks, receiptOfRow } from './stored.ts'

/** A range of leaves that were added by the same signed head. */
export interface Segment extends HeadBounds {
  readonly start: number
  readonly end: number
}

export interface LeafHashes {
  /** Of the entry. */
  readonly derived: Uint8Array
  readonly stored: Uint8Array
}

const LEAVES_PER_READ = 256

/**
 * @param segments consecutive ranges of leaves
 * @param keys to verify the signature of each receipt, too
 * @returns the hashes of the leaves that are there
 */
export async function checkChunk(
  doctor: Reads['doctor'],
  logId: string,
  segments: readonly Segment[],
  keys: KeyRing | undefined,
  problems: Problems,
): Promise<ReadonlyMap<number, LeafHashes>> {
  const end = segments.at(-1)?.end ?? 0
  const hashes = new Map<number, LeafHashes>()

  async function lookAgain(leaf: number, bounds: HeadBounds): Promise<Examination> {
    const [row = {}] = await doctor.receipts(logId, leaf, leaf + 1)
    const claims = await claimsWithChecks(doctor, await doctor.claims([String(row.claim_id)]))
    return examineReceipt(receiptOfRow(row), claims.get(String(row.claim_id)), bounds, keys)
  }

  async function read(from: number) {
    const receipts = (await doctor.receipts(logId, from, Math.min(end, from + LEAVES_PER_READ))).map(receiptOfRow)
    return {
      receipts,
      claims: await claimsWithChecks(doctor, await doctor.claims(receipts.map(({ claimId }) => claimId))),
    }
  }

  const start = segments[0]?.start ?? 0
  let next = start < end ? read(start) : undefined
  for (let from = start + LEAVES_PER_READ; next; from += LEAVES_PER_READ) {
    const { receipts, claims } = await next
    // The database reads while this process examines.
    next = from < end ? read(from) : undefined
    next?.catch(() => {})
    for (const receipt of receipts) {
      const { leafIndex, claimId, leafHash: stored } = receipt
      const bounds = segments.find((segment) => leafIndex < segment.end)!
      const first = await examineReceipt(receipt, claims.get(claimId), bounds, keys)
      // Read by several statements: something may have been erased between them.
      const again = first.problems.length === 0 || problems.full ? first : await lookAgain(leafIndex, bounds)
      for (const problem of again.problems) problems.add(problem)
      hashes.set(leafIndex, { derived: again.leafHash, stored })
    }
  }
  return hashes
}
