/** Checks a chunk of leaves: compares each receipt with its claim and checks, and hashes it. */
import { SEPARATORS } from '../../storage/lines.ts'
import type { Reads } from '../../storage/storage.ts'
import { type ChunkReport, draftReport, type ReportDraft } from './chunk-report.ts'
import { createKeyRing, type KeyRing } from './key-ring.ts'
import { examineReceipt, type HeadBounds } from './receipt-examination.ts'
import { isSound } from './sound-receipt.ts'
import { claimOfLine, claimOfRow, readReceiptLine, receiptOfRow } from './stored.ts'

/** A range of leaves that were added by the same signed head. */
export interface Segment extends HeadBounds {
  readonly start: number
  readonly end: number
}

export interface Chunk {
  /** Consecutive ranges of leaves. */
  readonly segments: readonly Segment[]
  /** Verify the signature of each receipt, too. */
  readonly signatures: boolean
}

export type CheckChunk = (chunk: Chunk) => Promise<ChunkReport>

/** The number of receipts that the database returns fastest in one text: memory for a longer one is taken from the system each time. */
const LEAVES_PER_READ = 128

export function chunkChecker({ doctor, log }: Pick<Reads, 'doctor' | 'log'>): CheckChunk {
  return async ({ segments, signatures }) => {
    const start = segments[0]?.start ?? 0
    const end = segments.at(-1)?.end ?? 0
    const report = draftReport(start, end)
    const keys = signatures ? createKeyRing(await log.signingKeys()) : undefined
    for (let from = start; from < end; from += LEAVES_PER_READ) {
      const to = Math.min(end, from + LEAVES_PER_READ)
      await checkLines(await doctor.receiptLines(from, to), segments, report, keys)
      for (let leaf = from; leaf < to; leaf++) {
        if (report.lacks(leaf)) await checkRow(doctor, leaf, segments, report, keys)
      }
    }
    return report.finish()
  }
}

async function checkLines(
  lines: string,
  segments: readonly Segment[],
  report: ReportDraft,
  keys: KeyRing | undefined,
): Promise<void> {
  const examinations: Promise<void>[] = []
  for (const text of lines.split(SEPARATORS.row)) {
    const line = readReceiptLine(text)
    const leaf = Number(line?.leaf_index)
    if (!line || !report.lacks(leaf)) continue
    const bounds = segmentOf(segments, leaf)
    if (report.problems.full || (!keys && isSound(line, bounds))) report.add(leaf, line.leaf_hash)
    else {
      const examination = examineReceipt(line, claimOfLine(line.claim), bounds, keys)
      examinations.push(addExamination(leaf, examination, line.leaf_hash, report))
    }
  }
  await Promise.all(examinations)
}

/** Checks a receipt by its own row, when its line is missing or cannot be read. */
async function checkRow(
  doctor: Reads['doctor'],
  leaf: number,
  segments: readonly Segment[],
  report: ReportDraft,
  keys: KeyRing | undefined,
): Promise<void> {
  const row = await doctor.receipt(leaf)
  if (!row) return
  const receipt = receiptOfRow(row)
  const claim = await doctor.claim(String(row.claim_id))
  const stored = claim && claimOfRow(claim, await doctor.checks(String(row.claim_id)))
  const examination = examineReceipt(receipt, stored, segmentOf(segments, leaf), keys)
  await addExamination(leaf, examination, receipt.leaf_hash, report)
}

async function addExamination(
  leaf: number,
  examination: ReturnType<typeof examineReceipt>,
  storedHash: string,
  report: ReportDraft,
): Promise<void> {
  const { leafHash, problems } = await examination
  report.add(leaf, leafHash, storedHash)
  for (const problem of problems) report.problems.add(problem)
}

function segmentOf(segments: readonly Segment[], leaf: number): Segment {
  return segments.find(({ end }) => leaf < end)!
}
