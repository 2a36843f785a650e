/** Checks a chunk of leaves: compares each receipt with its claim and checks, and hashes it. */
import type { Reads } from '../../../storage/storage.ts'
import { isAsMade } from './as-made.ts'
import { type ChunkReport, draftReport } from './chunk-report.ts'
import type { KeyRing } from './key-ring.ts'
import { type Examination, examineReceipt, type HeadBounds } from './receipt-examination.ts'
import { claimsWithChecks, receiptOfRow } from './stored.ts'

/** A range of leaves that were added by the same signed head. */
export interface Segment extends HeadBounds {
  readonly start: number
  readonly end: number
}

const LEAVES_PER_READ = 256

/**
 * @param segments consecutive ranges of leaves
 * @param keys to verify the signature of each receipt, too
 */
export async function checkChunk(
  doctor: Reads['doctor'],
  logId: string,
  segments: readonly Segment[],
  keys: KeyRing | undefined,
): Promise<ChunkReport> {
  const start = segments[0]?.start ?? 0
  const end = segments.at(-1)?.end ?? 0
  const report = draftReport(start, end)

  async function lookAgain(leaf: number, bounds: HeadBounds): Promise<Examination> {
    const [row = {}] = await doctor.receipts(logId, leaf, leaf + 1)
    const claims = await claimsWithChecks(doctor, await doctor.claims([String(row.claim_id)]))
    return examineReceipt(receiptOfRow(row), claims.get(String(row.claim_id)), bounds, keys)
  }

  for (let from = start; from < end; from += LEAVES_PER_READ) {
    const rows = await doctor.receipts(logId, from, Math.min(end, from + LEAVES_PER_READ))
    const claims = await claimsWithChecks(doctor, await doctor.claims(rows.map(({ claim_id }) => String(claim_id))))
    for (const row of rows) {
      const leaf = Number(row.leaf_index)
      const receipt = receiptOfRow(row)
      const claim = claims.get(receipt.claim_id)
      const bounds = segments.find((segment) => leaf < segment.end)!
      if (report.problems.full || (!keys && claim && isAsMade(receipt, claim, bounds))) {
        report.add(leaf, receipt.leaf_hash)
        continue
      }
      const first = await examineReceipt(receipt, claim, bounds, keys)
      // Read by several statements: something may have been erased between them.
      const { leafHash, problems } = first.problems.length === 0 ? first : await lookAgain(leaf, bounds)
      report.add(leaf, leafHash, receipt.leaf_hash)
      for (const problem of problems) report.problems.add(problem)
    }
  }
  return report.finish()
}
