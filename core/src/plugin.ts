/** What @claimcheck/core/plugin offers: what the author of a plugin needs, schemas included, and nothing that only a host uses. */

// An author of a plugin takes TypeBox from here, so that there is no version of it to choose and keep in step with core's.
export { type Static, type TSchema, Type } from 'typebox'
export { Value } from 'typebox/value'
export {
  type Anchor,
  type AnchorAccount,
  type Anchorer,
  AnchorerError,
  type AnchorerErrorCode,
  type AnchorIdentity,
  type AnchorSighting,
  type AnchorSubject,
  type SignedAnchor,
} from './anchor/anchorer.ts'
export { fromBase64url, toBase64url } from './encoding.ts'
export type { DestinationErrorCode, Instant, LogTime, Mark, Observation, Stay } from './evidence.ts'
export type { JsonObject, JsonValue } from './json.ts'
export { readJson } from './json-answer.ts'
export { HASH_BYTES } from './log/merkle.ts'
export type { ActionProfile, FieldRole } from './profile.ts'
export { retryAfterMs } from './retry-after.ts'
export { mayTake } from './shares.ts'
export {
  type CheckCache,
  type CheckContext,
  type Claim,
  type Connection,
  type ConnectionType,
  DestinationError,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  type GuardedFetch,
  isDestinationError,
  type Logger,
  type Plugin,
  type PluginHost,
  type PluginParts,
  type PreviousRead,
  type ProbeResult,
  type ResolvedAddress,
  secret,
  type Verifier,
} from './verifier.ts'
