/** A chunk of the log's leaves: each held against its claim and checks, and hashed. */
import { SEPARATORS } from '../../storage/lines.ts'
import type { Reads } from '../../storage/storage.ts'
import { type ChunkReport, draftReport, type ReportDraft } from './chunk-report.ts'
import { createKeyRing, type KeyRing } from './key-ring.ts'
import { examineReceipt, type Under } from './receipt-examination.ts'
import { isSound } from './sound-receipt.ts'
import { claimOfLine, claimOfRow, readReceiptLine, receiptOfRow } from './stored.ts'

/** Leaves that one signed head added, or some of them. */
export interface Segment extends Under {
  readonly start: number
  readonly end: number
}

export interface Chunk {
  /** One after the other. */
  readonly segments: readonly Segment[]
  /** Verify each receipt's own signature, too. */
  readonly signatures: boolean
}

export type CheckChunk = (chunk: Chunk) => Promise<ChunkReport>

/** As many as come quickest in one text. */
const LEAVES_PER_READ = 256

export function chunkChecker({ audit, log }: Pick<Reads, 'audit' | 'log'>): CheckChunk {
  return async ({ segments, signatures }) => {
    const start = segments[0]?.start ?? 0
    const end = segments.at(-1)?.end ?? 0
    const report = draftReport(start, end)
    const keys = signatures ? createKeyRing(await log.signingKeys()) : undefined
    for (let from = start; from < end; from += LEAVES_PER_READ) {
      const to = Math.min(end, from + LEAVES_PER_READ)
      await checkLines(await audit.receiptLines(from, to), segments, report, keys)
      for (let leaf = from; leaf < to; leaf++) {
        if (report.lacks(leaf)) await checkRow(audit, leaf, segments, report, keys)
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
  const looks: Promise<void>[] = []
  for (const text of lines.split(SEPARATORS.row)) {
    const line = readReceiptLine(text)
    const leaf = Number(line?.leaf_index)
    if (!line || !report.lacks(leaf)) continue
    const under = underOf(segments, leaf)
    if (report.problems.full || (!keys && isSound(line, under))) report.add(leaf, line.leaf_hash)
    else
      looks.push(lookClosely(leaf, examineReceipt(line, claimOfLine(line.claim), under, keys), line.leaf_hash, report))
  }
  await Promise.all(looks)
}

/** One that came in no line, or in one that could not be read. */
async function checkRow(
  audit: Reads['audit'],
  leaf: number,
  segments: readonly Segment[],
  report: ReportDraft,
  keys: KeyRing | undefined,
): Promise<void> {
  const row = await audit.receipt(leaf)
  if (!row) return
  const receipt = receiptOfRow(row)
  const claim = await audit.claim(String(row.claim_id))
  const stored = claim && claimOfRow(claim, await audit.checks(String(row.claim_id)))
  const examination = examineReceipt(receipt, stored, underOf(segments, leaf), keys)
  await lookClosely(leaf, examination, receipt.leaf_hash, report)
}

async function lookClosely(
  leaf: number,
  examination: ReturnType<typeof examineReceipt>,
  storedHash: string,
  report: ReportDraft,
): Promise<void> {
  const { leafHash, problems } = await examination
  report.add(leaf, leafHash, storedHash)
  for (const problem of problems) report.problems.complain(problem)
}

function underOf(segments: readonly Segment[], leaf: number): Segment {
  return segments.find(({ end }) => leaf < end)!
}
