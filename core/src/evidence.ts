/** Evidence: what a check saw, as it is recorded. */
import type { JsonObject } from './json.ts'

/** A moment, in milliseconds since the Unix epoch. */
export type Instant = number

/**
 * A moment by the destination's own clock or log. It lies between the two ends, both included: give a time in whole seconds as
 * the whole second. Leave `notBefore` out where the log is written some time after the fact.
 */
export interface LogTime {
  readonly notBefore?: Instant
  readonly notAfter: Instant
}

/** A time in which the outcome was there, by the destination's own log. */
export interface Stay {
  readonly appeared: LogTime
  /** Absent while it is there. */
  readonly removed?: LogTime
  /** What held the outcome was removed as a whole: the branch was deleted, the commit was not forced away from it. */
  readonly removedWhole?: boolean
}

/**
 * What a read that does not show the outcome as claimed says beyond that:
 * - `final`: nothing later can differ, such as the digest of a published version.
 * - `never_before`: by the destination's own record, it was not there as claimed at any time before this read.
 * - `may_have_been`: this place forgets, so it may have been there and gone.
 * - `unsettled`: it seems to be there as claimed, and it is too early to say so. Such a read neither bounds when it appeared nor blames.
 */
export const MARKS = ['final', 'never_before', 'may_have_been', 'unsettled'] as const
export type Mark = (typeof MARKS)[number]

/** Limits of one observation. */
export const MAX_STAYS = 8

interface Observed<F> {
  /** Identifiers, times, counts, booleans and fingerprints. Never content, never a credential. */
  readonly facts: F
  /**
   * Every stay that the destination's own log shows, in any order; empty where the log shows none. Leave it out where no log can
   * be read, or where the log has a gap after `claimed_at` less the profile's `removedWithinMs`. Eight at most: where the log shows more, the
   * first that ended after `windowStart`, because the earliest that counts decides.
   */
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
  /** How old the answer may be, because replicas lag behind. Milliseconds. The host adds what an `Age` header says. */
  readonly ageMs?: number
}

/** What a verifier reports: what it saw, never a verdict. */
export type Observation<F = JsonObject> =
  | (Observed<F> & {
      readonly kind: 'present'
      /** The profile's required fields that do not match; empty when the outcome is there as claimed. */
      readonly differs: readonly string[]
    })
  /** The destination was read, and the outcome is not there. */
  | (Observed<F> & { readonly kind: 'absent' })

/** Why a verifier could not read its destination. */
export const DESTINATION_ERROR_CODES = [
  'unauthorized',
  'forbidden',
  'no_connection',
  'rate_limited',
  'unavailable',
  'timeout',
  'unexpected_response',
  // The answer is larger than a check may read.
  'too_large',
  // The connection's options cannot work as they are.
  'misconfigured',
  // This verifier cannot read targets of this kind.
  'unsupported_target',
  'ambiguous_claim',
] as const
export type DestinationErrorCode = (typeof DESTINATION_ERROR_CODES)[number]

/** Why a check saw nothing. It is never evidence for or against the agent. */
export const FAILURE_CODES = [...DESTINATION_ERROR_CODES, 'unsupported_action', 'verifier_error'] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

export interface Failure {
  readonly code: FailureCode
  /** The destination asked not to be read again before this. */
  readonly retryAt?: Instant
  /** The HTTP status of the answer, where there was one. */
  readonly status?: number
  /** With `no_connection`: the claim was submitted under a connection that its owner removed since. */
  readonly connectionRemoved?: true
  /** The check ended its plugin's process. It is not part of the published evidence. */
  readonly endedProcess?: true
}

/** Where the host read, by its own account. `listed`: the operator lists the address as the public place of that provider. */
export type Source =
  | { readonly provider: string; readonly listed: boolean; readonly baseUrl: string }
  /** The workspace withholds the address. The id is the same for every read through one connection, and does not reveal the address. */
  | { readonly provider: string; readonly listed: false; readonly sourceId: string }

/** The code that made a check, as receipts name it. */
export interface PluginName {
  /** The package's name; the plugin's own, where it is a lone file. */
  readonly package: string
  readonly version?: string
  /** The digest of its files: `sha256:` and base64url. */
  readonly codeHash?: string
}

interface Checked {
  /** Just before the first request was sent. */
  readonly sentAt: Instant
  /** Just after the last answer had arrived. */
  readonly answeredAt: Instant
  /** Absent where no plugin was asked, and in records from before receipts named plugins. */
  readonly plugin?: PluginName
}

/** A check that read the destination. */
export interface ReadRecord extends Checked {
  readonly observation: Observation
  /** The most that the destination's clock can be off from ours, without sign. Milliseconds. */
  readonly clockOffsetMs: number
  /** The destination stated its time. Without it nothing bounds the offset, and its log gives no points in time. */
  readonly dated?: boolean
  /** How old the answer may be. Milliseconds, 0 when absent. */
  readonly ageMs?: number
  readonly source?: Source
  /**
   * How many answers of the source's origin the check had, or the read that it joined. Absent in records from before hosts counted.
   */
  readonly answers?: number
}

/** A check that could not read it. */
interface FailedRecord extends Checked {
  readonly failure: Failure
}

/** One check of a claim, as recorded. A verdict follows from a claim's records alone. */
export type CheckRecord = ReadRecord | FailedRecord

/** When the outcome appeared. `notBefore` is absent when nothing is known of it. */
export interface Interval {
  readonly notBefore?: Instant
  readonly notAfter: Instant
  /** `destination`: its own log narrowed it. `observation`: our reads alone. */
  readonly source: 'destination' | 'observation'
}

export function isRead(record: CheckRecord): record is ReadRecord {
  return 'observation' in record
}

/** Undefined also for a check that could not read. */
export function markOf(check: CheckRecord | undefined): Mark | undefined {
  return check && isRead(check) ? check.observation.mark : undefined
}

/** The read shows the outcome, all required fields equal. */
export function showsOutcome(record: CheckRecord): boolean {
  return isRead(record) && record.observation.kind === 'present' && record.observation.differs.length === 0
}
