/** The verdict rules: `@claimcheck/core/rules`. What checks record, how verdicts follow from it, and when to look again. */

export {
  type CheckRecord,
  DESTINATION_ERROR_CODES,
  type DestinationErrorCode,
  FAILURE_CODES,
  type Failure,
  type FailureCode,
  type Instant,
  type Interval,
  isRead,
  MARKS,
  type Mark,
  type Observation,
  type PluginName,
  type ReadRecord,
  type Source,
  type Stay,
} from './evidence.ts'
export { isJsonObject, type JsonObject, type JsonValue, jsonIn, objectIn, setMember } from './json.ts'
export { ACTION_PATTERN, FRESH_MS, type Rules, UNSUPPORTED_DEADLINE_MS } from './profile.ts'
export { COMPARATORS, type Comparator, isSameBy } from './rules/comparators.ts'
export {
  type Contradiction,
  contradictionOf,
  type Expected,
  expectedOf,
  LONGEST_CHECK_MS,
  MAX_AGE_MS,
  type Said,
} from './rules/consistency.ts'
export { decide, knowsRules, RULE_VERSIONS } from './rules/decide.ts'
export { CLOCK_SKEW_MS, freshnessOf, isClockBehind, isFreshBy, LARGEST_AHEAD_MS } from './rules/freshness.ts'
export { hintedRecord } from './rules/hinted.ts'
export { PROMPT_MS, toleranceEnd } from './rules/moments.ts'
export {
  canBeRevisited,
  REVISIT_RESULTS,
  type RevisitCase,
  type RevisitFinding,
  type RevisitResult,
  revisitCase,
  revisitFinding,
  witnessed,
  witnessesOf,
} from './rules/revisit.ts'
export { expectedBy, type NextCheck, nextCheck } from './schedule.ts'
export { formatInstant, LATEST_INSTANT, parseInstant } from './time.ts'
export {
  CLOSING,
  type ClaimTimes,
  type Closing,
  type Decision,
  FRESH_REASONS,
  type FreshReason,
  REASONS,
  type ReasonCode,
  VERDICTS,
  type Verdict,
  type VerdictValue,
} from './verdict.ts'
