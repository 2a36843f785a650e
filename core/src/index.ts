/** What @claimcheck/core offers to hosts and plugins. */

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
  type SignedAnchor,
  type StoredAnchor,
} from './anchor/anchorer.ts'
export type {
  AnchorChecker,
  AnchorFinding,
  AnchorProblem,
  AnchorReading,
  ReadConsistency,
} from './anchor/checker.ts'
export {
  type Auth,
  authHeader,
  isSecret,
  type SecretValues,
  secret,
  secretHandle,
  secretNames,
  withoutSecretValues,
} from './contract/auth.ts'
export {
  type ConnectionType,
  defineConnectionType,
  type ProbeContext,
  type ProbeResult,
  type Proven,
  type Trial,
} from './contract/connection.ts'
export { DestinationError, isDestinationError } from './contract/destination-error.ts'
export { CEILING, type CheckLimits, type FetchInit, type GuardedFetch, type ReadCall } from './contract/fetch.ts'
export { createHttp, type Http, statusError } from './contract/http.ts'
export {
  definePlugin,
  isPlugin,
  type Manifest,
  PLUGIN_API,
  type Plugin,
  type PluginHost,
  type PluginParts,
} from './contract/plugin.ts'
export { profileProblems } from './contract/profile-problems.ts'
export { type PublishedWords, publishedWords } from './contract/published-words.ts'
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
  type Logger,
  MAX_DIGEST_BYTES,
  type PreviousRead,
  type ResolvedAddress,
  type Socket,
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
export { bytesEqual, fromBase64url, toBase64url, utf8 } from './encoding.ts'
export {
  type CheckRecord,
  DESTINATION_ERROR_CODES,
  type DestinationErrorCode,
  FAILURE_CODES,
  type FailedRecord,
  type Failure,
  type FailureCode,
  type Instant,
  type Interval,
  isRead,
  type LogTime,
  MARKS,
  MAX_STAYS,
  type Mark,
  type Observation,
  type PluginName,
  type ReadRecord,
  type Source,
  type Stay,
  showsOutcome,
} from './evidence.ts'
export {
  isLiteral,
  isOwnWww,
  normalAddress,
  originOf,
  requireOrigin,
  type SocketAddress,
  socketAddress,
  unbracketed,
} from './hosting/base-address.ts'
export { BreachError } from './hosting/breach.ts'
export { callBody } from './hosting/calls.ts'
export { type CreateHash, digestAnswer, digestHeaders } from './hosting/digest.ts'
export { declaredHosts, type Grant, grantOf } from './hosting/grants.ts'
export { credentialHeader, requestHeaders } from './hosting/headers.ts'
export {
  MAX_AGE_MS,
  type ObservationPart,
  type ReadObservation,
  readObservation,
} from './hosting/observation.ts'
export { hasHandle, putSecrets } from './hosting/put-secrets.ts'
export { clockOffset, mergeReadings, NO_READINGS, type Readings, readAnswer } from './hosting/readings.ts'
export type { JsonObject, JsonValue } from './json.ts'
export { isJsonObject, setMember } from './json.ts'
export { checkConsistency, checkInclusion, checkTreeHead, type TreeHeadReport } from './log/checker.ts'
export { type Appended, appendLeaves, type CompactRange, EMPTY_RANGE, restoreRange } from './log/compact-range.ts'
export { fullTilesAbove, proveInRange } from './log/compact-range-proof.ts'
export { type TreeHeadFinding, treeSizeIn } from './log/head-binding.ts'
export type { Log } from './log/log.ts'
export {
  type Consistency,
  HASH_BYTES,
  type HashFunction,
  type Inclusion,
  type TreeHasher,
  treeHasher,
  treeRoot,
  verifyConsistency,
  verifyInclusion,
} from './log/merkle.ts'
export {
  completeTile,
  nodeAt,
  nodeOffset,
  TILE_HEIGHT,
  TILE_NODES_BYTES,
  TILE_WIDTH,
  type TileNodes,
} from './log/tile-nodes.ts'
export {
  joinTile,
  type ProvenConsistency,
  type ProvenInclusion,
  partialTiles,
  proveConsistency,
  proveInclusion,
  type ReadTiles,
  rootAt,
  type Tile,
  TileError,
  type TileId,
} from './log/tiles.ts'
export {
  type ConsistencyDocument,
  logIdOf,
  type SignedTreeHead,
  signTreeHead,
  type TreeHead,
  type TreeHeadBody,
  treeHeadBody,
} from './log/tree-head.ts'
export {
  ACTION_PATTERN,
  type ActionProfile,
  type FieldRole,
  FRESH_MS,
  type Rules,
  UNSUPPORTED_DEADLINE_MS,
} from './profile.ts'
export {
  aroundBody,
  type DecidedClaim,
  entryText,
  type Proof,
  type ProofAnchor,
  type Receipt,
  type ReceiptBody,
  type ReceiptClaim,
  type ReceiptObservation,
  receiptBody,
  toWirePlugin,
  toWireSource,
  type WireSource,
  type WireVerifier,
} from './receipt/body.ts'
export {
  type Bundle,
  type BundleOptions,
  type BundleReport,
  checkBundle,
  isUnvouched,
  type VouchedBy,
} from './receipt/bundle-checker.ts'
export { type CheckOptions, type Checks, checkReceipt, type Report } from './receipt/checker.ts'
export {
  claimDigest,
  digestOf,
  type SubmittedClaim,
  sha256Text,
  textFingerprint,
  type WireClaim,
} from './receipt/digest.ts'
export {
  type Case,
  caseOf,
  type EvidenceDocument,
  evidenceText,
  LARGEST_EVIDENCE_BYTES,
  type SignedEvidence,
  signedEvidence,
} from './receipt/evidence.ts'
export {
  checkEvidence,
  type EvidenceFinding,
  type PublishedProfile,
  type PublishedRules,
} from './receipt/evidence-checker.ts'
export { canonicalBytes, canonicalize } from './receipt/jcs.ts'
export { publishedRules } from './receipt/published-rules.ts'
export { isReceipt, isTreeHead } from './receipt/schema.ts'
export { JsonError, type JsonErrorCode, parseStrictJson, type StrictJson } from './receipt/strict-json.ts'
export { retryAfterMs } from './retry-after.ts'
export { decide, knowsRules, RULE_VERSIONS, type RuleVersions } from './rules/decide.ts'
export { toleranceEnd } from './rules/moments.ts'
export { type NextCheck, nextCheck } from './schedule.ts'
export { mayTake } from './shares.ts'
export type { BackendKey, SigningBackend } from './signing/backend.ts'
export { verifyEd25519 } from './signing/ed25519.ts'
export {
  type KeyDocument,
  type KeyEntry,
  type KeySet,
  KeySetError,
  keyIdOf,
  keyInUse,
  type PublishedKey,
  parseKeySet,
} from './signing/key-set.ts'
export {
  DOMAINS,
  type Domain,
  type Signature,
  signedMessage,
  verifySignature,
} from './signing/message.ts'
export { createNobleSigner } from './signing/noble-signer.ts'
export type { Signer } from './signing/signer.ts'
export { formatInstant, LATEST_INSTANT, parseInstant } from './time.ts'
export { parseUrl } from './url.ts'
export {
  CLOSING,
  type ClaimTimes,
  type Closing,
  type Decision,
  REASONS,
  type ReasonCode,
  VERDICTS,
  type Verdict,
  type VerdictValue,
} from './verdict.ts'
