/** Checks the claims without a receipt. */

import type { Problems } from '../../../base/problems.ts'
import type { Reads } from '../../../storage/storage.ts'
import { examineClaim } from './claim-examination.ts'
import { claimOfRow, type StoredClaim } from './stored.ts'

const CLAIMS_PER_READ = 256

export async function checkUndecided(doctor: Reads['doctor'], problems: Problems): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const claims: StoredClaim[] = (await doctor.undecided(after, CLAIMS_PER_READ)).map((row) => claimOfRow(row)!)
    for (const problem of claims.flatMap(problemsOf)) problems.add(problem)
    after = claims.at(-1)?.claimId
  }
}

function problemsOf(claim: StoredClaim): string[] {
  const decided = claim.row?.state === 'decided' ? [`claim ${claim.claimId}: it is decided without a receipt`] : []
  return [...decided, ...examineClaim(claim)]
}
