/** Checks that what is said to be erased is, and that the rows of erasures are possible. */
import { isErasureRule } from '../../base/erasure-rules.ts'
import { sameBytes } from '../../base/same-bytes.ts'
import type { Examination } from '../../storage/schema.ts'

const ERASURES_PER_READ = 1000

export async function examineErasures({ read: { doctor, log }, problems }: Examination): Promise<void> {
  const archived = new Set<unknown>()
  for (const { logId, archivedAt } of await log.all()) if (archivedAt !== null) archived.add(logId)
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows = await doctor.erasures(after, ERASURES_PER_READ)
    for (const row of rows) {
      const addProblem = (problem: string) => problems.add(`erasure of ${row.receipt_id}: ${problem}`)
      if (!isErasureRule(String(row.rule))) addProblem('there is no such rule')
      if (Number(row.erased_at) < Number(row.issued_at)) addProblem('erased_at is before the receipt was issued')
      if (row.receipt_at === null) {
        if (!archived.has(row.log_id)) addProblem('there is no such receipt')
        continue
      }
      if (
        Number(row.leaf) !== Number(row.leaf_index) ||
        !sameBytes(row.hash_of_leaf, row.leaf_hash) ||
        Number(row.receipt_at) !== Number(row.issued_at)
      )
        addProblem('leaf_index, leaf_hash or issued_at differs from that of the receipt')
      if (Number(row.has_content) === 1) addProblem('the content of the receipt is there')
      if (row.claim_of_receipt !== row.claim_id) addProblem('it names another claim than the receipt')
    }
    after = rows.at(-1) && String(rows.at(-1)!.receipt_id)
  }
}
