/** Checks that the content of erased receipts is gone, and that the rows of erasures are possible. */

import { sameBytes } from '../../base/same-bytes.ts'
import type { Row } from '../../storage/db.ts'
import { isErasureRule } from '../../storage/erasure-rules.ts'
import { inBatches, problemIf } from '../../storage/row-checks.ts'
import type { Examination } from '../../storage/schema.ts'

const ERASURES_PER_READ = 1000

export async function examineErasures({ read: { doctor, log }, problems }: Examination): Promise<void> {
  const archived = new Set<unknown>()
  for (const { logId, archivedAt } of await log.all()) if (archivedAt !== null) archived.add(logId)
  const read = (after: string) => doctor.erasures(after, ERASURES_PER_READ)
  for await (const rows of inBatches(read, '', ({ receipt_id }) => String(receipt_id))) {
    for (const row of rows) {
      for (const problem of rowProblems(row, archived.has(row.log_id)))
        problems.add(`erasure of ${row.receipt_id}: ${problem}`)
    }
  }
}

function rowProblems(row: Row, isArchived: boolean): string[] {
  const problems = [
    ...problemIf(!isErasureRule(String(row.rule)), 'there is no such rule'),
    ...problemIf(Number(row.erased_at) < Number(row.issued_at), 'erased_at is before the receipt was issued'),
  ]
  if (row.receipt_at === null) return [...problems, ...problemIf(!isArchived, 'there is no such receipt')]
  const isOfReceipt =
    Number(row.leaf) === Number(row.leaf_index) &&
    sameBytes(row.hash_of_leaf, row.leaf_hash) &&
    Number(row.receipt_at) === Number(row.issued_at)
  return [
    ...problems,
    ...problemIf(!isOfReceipt, 'leaf_index, leaf_hash or issued_at differs from that of the receipt'),
    ...problemIf(Number(row.has_content) === 1, 'the content of the receipt is there'),
    ...problemIf(row.claim_of_receipt !== row.claim_id, 'it names another claim than the receipt'),
  ]
}
