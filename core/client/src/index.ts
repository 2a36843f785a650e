/** The interface of @claimcheck/client. */
export type { Bundle, BundleReport } from '@claimcheck/core/checker'
export type { NewClaim } from './claim-request.ts'
export { type Claimed, type ClaimingOptions, type ClaimOf, claiming } from './claiming.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export {
  ApiError,
  AuthenticationError,
  ClaimcheckError,
  ConnectionError,
  ForbiddenError,
  GoneError,
  InvalidRequestError,
  type Issue,
  NotClaimedError,
  NotFoundError,
  RateLimitedError,
  ServiceUnavailableError,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.ts'
export type { EventFilters, GapEvent } from './events.ts'
export type { CallOptions } from './transport.ts'
export type { TreeHeadMemory } from './tree-head.ts'
export type { VerifyOptions } from './verify.ts'
export type { ClaimRef, WaitOptions } from './watch.ts'
export type {
  ClaimFilters,
  ClaimList,
  ClaimRequest,
  ClaimStatus,
  ConnectionList,
  CredentialDescription,
  DecidedClaim,
  ErasedReceipt,
  Event,
  Evidence,
  KeyDocument,
  Profile,
  ProfileList,
  Receipt,
  State,
  SubmittedClaim,
  Verdict,
} from './wire.ts'
