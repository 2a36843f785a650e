/** What @claimcheck/core offers. */

export {
  type Appearance,
  appearance,
  type CheckRecord,
  type FailedRecord,
  type Failure,
  type FailureCode,
  type Instant,
  type Interval,
  isRead,
  type Observation,
  type ReadRecord,
  showsOutcome,
} from './evidence.ts'
export type { JsonObject, JsonValue } from './json.ts'
export { ACTION_PATTERN, type ActionProfile, type FieldRole, type Rules, UNSUPPORTED_DEADLINE_MS } from './profile.ts'
export { nextCheckAt } from './schedule.ts'
export {
  CLOSING,
  type ClaimTimes,
  type Closing,
  closingStart,
  type Decision,
  decide,
  graceEnd,
  REASONS,
  type ReasonCode,
  toleranceEnd,
  VERDICTS,
  type Verdict,
  type VerdictValue,
} from './verdict.ts'
export {
  type CheckCache,
  type CheckContext,
  type Claim,
  type Connection,
  type ConnectionType,
  DestinationError,
  type DestinationErrorCode,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  type GuardedFetch,
  isPlugin,
  isSecret,
  type Logger,
  type Plugin,
  type PluginHost,
  type PluginParts,
  type ProbeResult,
  type ResolvedAddress,
  secret,
  type Verifier,
} from './verifier.ts'
