/** Exports what the author of a plugin needs, schemas included, and nothing that only a host uses, as @claimcheck/core/plugin. */

export {
  type Anchor,
  type AnchorAccount,
  type AnchorExaminer,
  type Anchorer,
  AnchorerError,
  type AnchorerErrorCode,
  type AnchorIdentity,
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
  isRefused,
  type ProbeContext,
  type ProbeResult,
  type Proven,
  type Trial,
} from './contract/connection.ts'
export { DestinationError, isDestinationError } from './contract/destination-error.ts'
export {
  CEILING,
  type CheckLimits,
  type FetchInit,
  type GuardedFetch,
  MAX_CHECK_BYTES,
  type ReadCall,
  USUAL_ANSWER_BYTES,
} from './contract/fetch.ts'
export {
  type Answer,
  type Http,
  type HttpInit,
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
  type Manifest,
  type Plugin,
  type PluginHost,
  type PluginParts,
} from './contract/plugin.ts'
export {
  type CommandGrant,
  type ConnectInit,
  type IdentifierKind,
  type Login,
  type LoginMechanism,
  MAX_ROWS,
  type Query,
  type QueryAnswer,
  type Socket,
  type SocketGrant,
  type SocketPort,
  type Statement,
  type StatementGrant,
} from './contract/socket.ts'
export {
  type AnonymousSource,
  type CheckCache,
  type CheckContext,
  type Claim,
  type Connection,
  type DigestAlgorithm,
  type DigestAnswer,
  type DigestInit,
  defineVerifier,
  earlierVersion,
  type Logger,
  MAX_DIGEST_BYTES,
  type PreviousRead,
  type ResolvedAddress,
  type Verifier,
} from './contract/verifier.ts'
export {
  claimSentence,
  factSentences,
  type Named,
  outcomeSentence,
  type Sentence,
  type Worded,
  type Words,
} from './contract/words.ts'
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
export type {
  CertificateCredential,
  ChallengeCredential,
  FingerprintCredential,
  PathCredential,
  SigV4Credential,
} from './hosting/schemes/all.ts'
export type {
  ClientCredentials,
  GitHubAppCredential,
  JwtBearerCredential,
  OAuth2Credential,
  RefreshTokenCredential,
} from './hosting/schemes/oauth2-requests.ts'
export type { Credential } from './hosting/schemes/schemes.ts'
export type { JsonObject, JsonValue } from './json.ts'
/** @deprecated Import it from `@claimcheck/core/log`. */
export { HASH_BYTES } from './log/merkle.ts'
export type { ActionProfile, Comparison, FieldRole, Shown } from './profile.ts'
/** @deprecated Import it from `@claimcheck/core/receipts`. */
export { textFingerprint } from './receipt/digest.ts'
export { retryAfterMs } from './retry-after.ts'
/** @deprecated A host's rule, in `@claimcheck/core/hosting`. */
export { mayTake } from './shares.ts'
export type { BackendKey, SigningBackend } from './signing/backend.ts'
export { keyIdOf } from './signing/key-set.ts'
// An author of a plugin takes TypeBox from here, so that there is no version of it to choose and keep in step with core's.
export { type Static, type TSchema, Type, Value } from './typebox.ts'
export { parseUrl } from './url.ts'
