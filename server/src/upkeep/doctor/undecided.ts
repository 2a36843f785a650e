/** Checks the claims without a receipt. */
import { SEPARATORS } from '../../storage/lines.ts'
import type { Reads } from '../../storage/storage.ts'
import { examineClaim } from './claim-examination.ts'
import type { Problems } from './problems.ts'
import { claimOfLine, claimOfRow, readClaimLine, type StoredClaim } from './stored.ts'

const CLAIMS_PER_READ = 256

export async function checkUndecided(doctor: Reads['doctor'], problems: Problems): Promise<void> {
  for (let after = ''; ; ) {
    const page = await doctor.undecidedLines(after, CLAIMS_PER_READ)
    if (!page) return
    const lines = page.lines.split(SEPARATORS.row).map(readClaimLine)
    if (lines.every((line) => line !== undefined)) {
      for (const line of lines) check(claimOfLine(line), problems)
    } else {
      // A value contains a separator: reads each claim by its own row.
      for (const claimId of await doctor.undecidedIds(after, page.last)) {
        const row = await doctor.undecided(claimId)
        if (row) check(claimOfRow(row, await doctor.checks(claimId)), problems)
      }
    }
    after = page.last
  }
}

function check(claim: StoredClaim, problems: Problems): void {
  const { claim_id, state } = claim.fields
  if (state === 'decided') problems.add(`claim ${claim_id}: it is decided without a receipt`)
  for (const problem of examineClaim(claim)) problems.add(problem)
}
