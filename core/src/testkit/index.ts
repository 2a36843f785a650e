/** Exports the conformance kit, and recordings of destinations, to the author of a plugin, as @claimcheck/core/testkit. */

export { CHECKS } from './checks.ts'
export { type RegisterTest, runConformance, type Tests, verifierConformance } from './conformance.ts'
export {
  createVirtualClock,
  type Life,
  type LifeOptions,
  type LifeRequest,
  liveClaim,
  type VirtualClock,
} from './life.ts'
export type {
  Case,
  CaseClaim,
  ConformanceOptions,
  Destination,
  GivenConnection,
  OrAt,
  Report,
  ReportedCheck,
  RunningDestination,
  Sight,
} from './options.ts'
export {
  type Exchange,
  type Recording,
  type RecordingProxy,
  type RecordingProxyOptions,
  type RecordingSource,
  readRecording,
  recorded,
  recordingProxy,
  writeRecording,
} from './recording.ts'
export {
  type LogLine,
  type Trial,
  type TrialClaim,
  type TrialOptions,
  type TrialRequest,
  tryClaim,
} from './trial.ts'
export { TrialError, type TrialErrorCode } from './trial-error.ts'
