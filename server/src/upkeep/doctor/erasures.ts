/** Checks that what is said to be erased is, and that the rows of erasures are possible. */
import { isErasureRule } from '../../base/erasure-rules.ts'
import type { Reads } from '../../storage/storage.ts'
import type { Problems } from './problems.ts'

const ERASURES_PER_READ = 1000

export async function checkErasures(doctor: Reads['doctor'], problems: Problems): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows = await doctor.erasures(after, ERASURES_PER_READ)
    for (const row of rows) {
      const addProblem = (problem: string) => problems.add(`erasure of ${row.receipt_id}: ${problem}`)
      if (!isErasureRule(String(row.rule))) addProblem('there is no such rule')
      // Without its receipt it belongs to nothing, which is reported once.
      if (row.issued_at === null) continue
      if (Number(row.has_content) === 1) addProblem('the content of the receipt is there')
      if (row.claim_of_receipt !== row.claim_id) addProblem('it names another claim than the receipt')
      if (Number(row.erased_at) < Number(row.issued_at)) addProblem('erased_at is before the receipt was issued')
    }
    after = rows.at(-1) && String(rows.at(-1)!.receipt_id)
  }
}
