/** Exports what the author of a plugin needs, schemas included, and nothing that only a host uses, as @claimcheck/core/plugin. */

export {
  type Anchorer,
  AnchorerError,
  type AnchorerErrorCode,
  type AnchorSighting,
  type AnchorSubject,
  type AttestedRange,
  type AttestedRoot,
  type AttestedSearch,
  type SignedAnchor,
  type StoredAnchor,
} from './anchor/anchorer.ts'
export type { AnchorChecker, AnchorReading } from './anchor/checker.ts'
export {
  type Auth,
  basic,
  bearer,
  credential,
  type DeclaredCredential,
  header,
  secret,
} from './contract/auth.ts'
export { clockBehindMs, isLongBefore, windowStart } from './contract/claim-time.ts'
export {
  type ConnectionType,
  defineConnectionType,
  type HintSender,
  isRefused,
  type ProbeContext,
  type ProbeResult,
  type Proven,
  type Trial,
} from './contract/connection.ts'
export { DestinationError, isDestinationError } from './contract/destination-error.ts'
export {
  CEILING,
  type FetchInit,
} from './contract/fetch.ts'
export {
  type Answer,
  type CallRefusal,
  type JsonAnswer,
  type JsonInit,
  type PageInit,
  statusError,
} from './contract/http.ts'
export { readJson } from './contract/json-answer.ts'
export { isOldCopy } from './contract/old-copies.ts'
export {
  type DavMethod,
  definePlugin,
  type Plugin,
} from './contract/plugin.ts'
export type {
  Login,
  Query,
  QueryAnswer,
  Socket,
  Statement,
} from './contract/socket.ts'
export {
  type CheckCache,
  type CheckContext,
  type Claim,
  type Connection,
  type DigestAnswer,
  defineVerifier,
  earlierVersion,
  type Logger,
  MAX_DIGEST_BYTES,
  type PreviousRead,
  type ResolvedAddress,
  type Verifier,
} from './contract/verifier.ts'
export { fromBase64url, toBase64url } from './encoding.ts'
export {
  type DestinationErrorCode,
  type Instant,
  type LogTime,
  type Mark,
  type Observation,
  type Stay,
  showsClaimed,
} from './evidence.ts'
export type { JsonObject, JsonValue } from './json.ts'
export type { ActionProfile } from './profile.ts'
export { retryAfterMs } from './retry-after.ts'
export type { BackendKey, SigningBackend } from './signing/backend.ts'
export { keyIdOf } from './signing/key-set.ts'
// An author of a plugin takes TypeBox from here, so that there is no version of it to choose and keep in step with core's.
export { type Static, type TSchema, Type, Value } from './typebox.ts'
export { parseUrl } from './url.ts'
