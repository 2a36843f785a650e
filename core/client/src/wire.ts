/** What travels, by name. The types are made from the service's OpenAPI document. */
import type { components } from './openapi.ts'

type Schemas = components['schemas']

export type ClaimRequest = Schemas['ClaimRequest']
export type ClaimStatus = Schemas['ClaimStatus']
export type SubmittedClaim = Schemas['SubmittedClaim']
export type ClaimList = Schemas['ClaimList']
export type ConnectionList = Schemas['ConnectionList']
export type CredentialDescription = Schemas['CredentialDescription']
export type ErasedReceipt = Schemas['ErasedReceipt']
export type Evidence = Schemas['Evidence']
export type KeyDocument = Schemas['KeyDocument']
export type Profile = Schemas['Profile']
export type Receipt = Schemas['Receipt']
export type ValidationErrorItem = Schemas['ValidationErrorItem']
export type ProfileList = Schemas['ProfileList']

export type State = ClaimStatus['state']
export type Verdict = NonNullable<ClaimStatus['verdict']>

/** Which claims, and how many at a time: `limit`. */
export type ClaimFilters = Schemas['ClaimFilters']

/** A claim with its verdict and its receipt. */
export type DecidedClaim = ClaimStatus & {
  readonly state: 'decided'
  readonly verdict: Verdict
  readonly receipt_id: string
}
