/** What a claim holds once its content is erased. */
import { hash } from 'node:crypto'
import type { ClaimRow } from '../storage/claim-row.ts'
import type { ClaimIdentity } from '../storage/claims.ts'
import type { ErasedContent } from '../storage/erasures.ts'

/** Longer than any client's own id, so that no claim can have it already. */
const LENGTH = 300

/**
 * What is left of the client's own id: enough to know it again, so that the same claim that is submitted again gets no second receipt.
 */
export function clientIdLeft({ workspaceId, clientClaimId }: ClaimIdentity): string {
  return `erased:${hash('sha256', `${workspaceId} ${clientClaimId}`, 'hex')}`.padEnd(LENGTH, '.')
}

export function isClientIdLeft(clientClaimId: string): boolean {
  return /^erased:[0-9a-f]{64}\.*$/.test(clientClaimId) && clientClaimId.length === LENGTH
}

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
