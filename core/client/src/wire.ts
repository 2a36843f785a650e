/** Names the types of the API's schemas. */
import type { ClaimQuery, ClaimStatus, ProfileList } from '@claimcheck/core/api'

export type {
  ClaimList,
  ClaimRequest,
  ClaimStatus,
  ConnectionList,
  CredentialDescription,
  ErasedReceipt,
  Event,
  Evidence,
  KeyDocument,
  ProfileList,
  Receipt,
  SubmittedClaim,
  ValidationErrorItem,
} from '@claimcheck/core/api'

export type Profile = ProfileList['profiles'][number]
export type State = ClaimStatus['state']
export type Verdict = NonNullable<ClaimStatus['verdict']>

/** Filters of a list of claims. `limit` is the number of claims of a page. */
export type ClaimFilters = Partial<ClaimQuery>

/** A claim with its verdict and its receipt. */
export type DecidedClaim = ClaimStatus & {
  readonly state: 'decided'
  readonly verdict: Verdict
  readonly receipt_id: string
}
