/** Exports the wire schemas as @claimcheck/core/api. Validation, the OpenAPI description and the client's types are made from them. */
export {
  ClaimList,
  ClaimQuery,
  ClaimRequest,
  ClaimStatus,
  claimRequest,
  LastCheck,
  SubmittedClaim,
} from './claim.ts'
export { ConnectionList } from './connection.ts'
export { CredentialDescription } from './credential.ts'
export { ErasedBody, ErasedReceipt, Erasure } from './erasure.ts'
export { ErrorBody, ValidationErrorBody, ValidationErrorItem } from './error.ts'
export { EVENTS, Event, type EventType, type RateJumpData } from './event.ts'
export { EventGap, EventList, EventQuery } from './event-list.ts'
export { KeyDocument } from './keys.ts'
export {
  Anchor,
  AnchorList,
  AnchorQuery,
  ConsistencyProof,
  ConsistencyProofQuery,
  InclusionProof,
  InclusionProofQuery,
  LogEntries,
  LogEntriesQuery,
  LogHead,
} from './log.ts'
export { LostBody, LostReceipt } from './lost.ts'
export { MAX_BYTES } from './primitives.ts'
export { ProfileList } from './profile.ts'
export { Evidence, Receipt } from './receipt.ts'
export { Finding, Revisit } from './revisit.ts'
export { WebhookDelivery, WebhookDeliveryList, WebhookDeliveryQuery, WebhookList } from './webhook.ts'
