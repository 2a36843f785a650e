/** What a claim holds once its content is erased. */
import { type ClaimRow, clientIdLeft } from '../storage/claim-row.ts'
import type { ErasedContent } from '../storage/erasures.ts'

/** Ids, times, counts and the verdict stay. So does the action, but for one that no plugin checks: clients write that freely. */
export function contentLeft(claim: ClaimRow): ErasedContent {
  const isKnown = claim.access !== 'unsupported_action'
  return {
    claimId: claim.claimId,
    clientClaimId: clientIdLeft(claim),
    agentId: '',
    action: isKnown ? claim.action : '',
    target: '',
    params: {},
    claimDigest: '',
    origin: null,
    profileAction: isKnown ? claim.profileAction : '',
    lastCheck: null,
  }
}
