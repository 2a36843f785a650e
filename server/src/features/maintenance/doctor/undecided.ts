/** Checks the claims without a receipt. */

import type { Problems } from '../../../base/problems.ts'
import type { Reads } from '../../../storage/storage.ts'
import { examineClaim } from './claim-examination.ts'
import { claimsWithChecks, type StoredClaim } from './stored.ts'

const CLAIMS_PER_READ = 256

export async function checkUndecided(doctor: Reads['doctor'], problems: Problems): Promise<void> {
  async function lookAgain(claimId: string, after: string): Promise<readonly string[]> {
    const again = (await claimsWithChecks(doctor, await doctor.undecided(after, 1))).get(claimId)
    return again ? problemsOf(again) : []
  }

  for (let after = ''; ; ) {
    const rows = await doctor.undecided(after, CLAIMS_PER_READ)
    const claims = await claimsWithChecks(doctor, rows)
    for (const [claimId, claim] of claims) {
      // Read by several statements: it may have been checked between them.
      if (problemsOf(claim).length > 0) for (const problem of await lookAgain(claimId, after)) problems.add(problem)
      after = claimId
    }
    if (claims.size === 0) return
  }
}

function problemsOf(claim: StoredClaim): string[] {
  const decided = claim.row?.state === 'decided' ? [`claim ${claim.claimId}: it is decided without a receipt`] : []
  return [...decided, ...examineClaim(claim)]
}
