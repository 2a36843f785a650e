/** Checks the archive of a log as the tables of a log are checked: its last signed head, its tiles, and each receipt with its claim. */
import { bytesEqual } from '@claimcheck/core/receipts'
import type { Problems } from '../../../base/problems.ts'
import type { LogRow, TreeHeadRow } from '../../../storage/log-state.ts'
import { type Reads, StorageError } from '../../../storage/storage.ts'
import type { LogArchives } from '../../log/log-archives.ts'
import { readHeads } from './heads.ts'
import type { KeyRing } from './key-ring.ts'
import { examineReceipt } from './receipt-examination.ts'
import { claimOfRow, type HeadBounds } from './stored.ts'

export type ReadArchives = Pick<LogArchives, 'has' | 'open' | 'receipt' | 'receiptIds' | 'treeProblems'>

const RECEIPTS_PER_READ = 256
const ERASURES_PER_READ = 1000

/** Uses a byte of memory for each leaf. */
export async function checkArchive(
  read: Reads,
  archives: ReadArchives,
  { logId, begunAt }: LogRow,
  keys: KeyRing | undefined,
  problems: Problems,
): Promise<void> {
  const add = (problem: string) =>
    problems.add(`archive of log ${logId}: ${problem}: restore DATA_DIR/logs/${logId} from a backup`)
  try {
    const { rows, state } = await archives.open(logId)
    const head: TreeHeadRow = { ...state, signed: (await rows.newestHead(logId))!.signed }
    await readHeads(read.log, [head], { add })
    for await (const problem of archives.treeProblems(logId)) add(problem)

    // The heads that signed these leaves are not archived, and neither is which key signed them.
    const bounds = { keyId: undefined, notBefore: begunAt, notAfter: state.issuedAt }
    const erased = await erasedLeaves(read, logId)
    const seen = new Uint8Array(state.treeSize)
    for (const leaf of erased.values()) seen[leaf] = 1
    for await (const receiptIds of chunks(archives.receiptIds(logId))) {
      for (const leaf of await checkReceipts(receiptIds, bounds, erased)) seen[leaf] = 1
    }
    for (const [leaf, isSeen] of seen.entries()) if (isSeen === 0) add(`the receipt of leaf ${leaf} is missing`)
  } catch (error) {
    if (error instanceof StorageError) throw error
    add((error as Error).message)
  }

  /** Returns the leaves that are there. */
  async function checkReceipts(
    receiptIds: readonly string[],
    bounds: HeadBounds,
    erased: ReadonlyMap<string, number>,
  ): Promise<number[]> {
    const { rows: tiles } = await archives.open(logId)
    const found = await Promise.all(
      receiptIds.map((receiptId) =>
        archives.receipt(logId, receiptId).catch((error: Error) => add(`receipt ${receiptId}: ${error.message}`)),
      ),
    )
    const receipts = found.flatMap((receipt) => receipt ?? [])
    const rows = await read.doctor.claims(receipts.map(({ claimId }) => claimId))
    const claims = new Map(rows.map((row) => claimOfRow(row)!).map((claim) => [claim.claimId, claim]))
    for (const receipt of receipts) {
      const { receiptId, leafIndex, evidence = null, entry } = receipt
      const isErased = erased.has(receiptId)
      if (isErased && entry !== '') add(`receipt ${receiptId}: its content is there, and was erased`)
      const stored = { ...receipt, evidence, isErased }
      const { leafHash, problems } = await examineReceipt(stored, claims.get(receipt.claimId), bounds, keys)
      for (const problem of problems) add(problem)
      const [leaf] = await tiles.leaves(logId, leafIndex, leafIndex + 1)
      if (!leaf || !bytesEqual(leafHash, leaf.leafHash)) add(`receipt ${receiptId}: it is not leaf ${leafIndex}`)
    }
    return receipts.map(({ leafIndex }) => leafIndex)
  }
}

/** By the ids of their receipts. */
async function erasedLeaves({ doctor }: Pick<Reads, 'doctor'>, logId: string): Promise<Map<string, number>> {
  const leaves = new Map<string, number>()
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows = await doctor.erasures(after, ERASURES_PER_READ)
    for (const row of rows) if (row.log_id === logId) leaves.set(String(row.receipt_id), Number(row.leaf_index))
    after = rows.at(-1) && String(rows.at(-1)!.receipt_id)
  }
  return leaves
}

async function* chunks(all: AsyncIterable<string>): AsyncGenerator<string[]> {
  let chunk: string[] = []
  for await (const one of all) {
    chunk.push(one)
    if (chunk.length < RECEIPTS_PER_READ) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
