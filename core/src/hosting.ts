/** Exports what a host of plugins needs beyond their contract, as `@claimcheck/core/hosting`. */

export type { Anchor, AnchorAccount, AnchorExaminer, AnchorIdentity } from './anchor/anchorer.ts'
export {
  authHeader,
  isSecret,
  type SecretValues,
  secretHandle,
  secretNames,
  withoutSecretValues,
} from './contract/auth.ts'
export {
  type CheckLimits,
  type GuardedFetch,
  MAX_CHECK_BYTES,
  USUAL_ANSWER_BYTES,
} from './contract/fetch.ts'
export { requireFingerprintText } from './contract/fingerprint-text.ts'
export { createHttp } from './contract/http.ts'
export {
  apiProblem,
  isPlugin,
  type Manifest,
  PLUGIN_API,
  type PluginParts,
} from './contract/plugin.ts'
export { profileProblems, profileWarnings } from './contract/profile-problems.ts'
export { type PublishedWords, publishedWords } from './contract/published-words.ts'
export { keywordProblems } from './contract/schema-keywords.ts'
export type {
  CommandGrant,
  ConnectInit,
  LoginMechanism,
  SocketGrant,
  SocketPort,
  StatementGrant,
} from './contract/socket.ts'
export type { AnonymousSource, DigestAlgorithm, DigestInit } from './contract/verifier.ts'
export {
  isLiteral,
  normalAddress,
  originOf,
  requireOrigin,
  type SocketAddress,
  socketAddress,
  unbracketed,
} from './hosting/base-address.ts'
export type { RequestGuard, SendInit } from './hosting/check-guard.ts'
export { type GuardedRequests, guardRequests } from './hosting/check-requests.ts'
export { type CredentialMemory, createCredentialMemories } from './hosting/credential-memory.ts'
export {
  type ClientCertificate,
  type Connected,
  certificateOf,
  credentialProblems,
  hostOptionProblems,
  unboundSecrets,
} from './hosting/credentials.ts'
export type { DatabaseAddress } from './hosting/databases/bounds.ts'
export { type MysqlDriver, queryMysql } from './hosting/databases/mysql.ts'
export { type PostgresDriver, queryPostgres } from './hosting/databases/postgres.ts'
export { davProblem } from './hosting/dav.ts'
export { digestAnswer } from './hosting/digest.ts'
export { BreachError, failureWords, refusal, toDestinationError } from './hosting/failures.ts'
export { declaredHosts, grantOf } from './hosting/grants.ts'
export { credentialHeader } from './hosting/headers.ts'
export { heldToIdentity, isIdentity, type KnownIdentity } from './hosting/identity.ts'
export { type ReadObservation, readObservation, UNHEARD } from './hosting/observation.ts'
export {
  clockOffset,
  clockReading,
  mergeReadings,
  NO_READINGS,
  type Readings,
  readAnswer,
  withToldTime,
} from './hosting/readings.ts'
export {
  createMemoryRefreshes,
  type MemoryRefreshes,
  REFRESH_LEASE_MS,
  type RefreshLeases,
  refreshOnce,
  type StoredTokens,
  type TokenCell,
} from './hosting/refreshes.ts'
export { MOST_MODULUS_BITS, signingKey, signJwt } from './hosting/schemes/jwt.ts'
export type { Refreshes } from './hosting/schemes/scheme.ts'
export type { Credential } from './hosting/schemes/schemes.ts'
export { socketProblems } from './hosting/sockets/grants.ts'
export type { QueryResult, SecretQuery } from './hosting/sockets/query.ts'
export type { Dialed, Pace } from './hosting/sockets/streams.ts'
export type { Comparison, FieldRole, Shown } from './profile.ts'
export { mayTake } from './shares.ts'
