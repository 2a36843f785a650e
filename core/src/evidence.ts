/** Evidence: the records of checks. */
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

/** A period in which the outcome was there, by the destination's own log. */
export interface Stay {
  readonly appeared: LogTime
  /** The time at which the outcome was removed; absent while it is there. */
  readonly removed?: LogTime
  /** Tells whether the holder of the outcome was removed as a whole: the branch was deleted, the commit was not forced away from it. */
  readonly removedWhole?: boolean
}

/**
 * Marks of a read that does not show the outcome as claimed:
 * - `final`: nothing later can differ, such as the digest of a published version.
 * - `never_before`: by the destination's own record, it was not there as claimed at any time before this read.
 * - `may_have_been`: this place forgets, so it may have been there and gone.
 * - `unsettled`: it seems to be there as claimed, or nothing shows yet whether it is, and it is too early to say so. Such a read neither bounds when
 *   it appeared nor blames.
 */
export const MARKS = ['final', 'never_before', 'may_have_been', 'unsettled'] as const
export type Mark = (typeof MARKS)[number]

/** Limit of the stays of one observation. */
export const MAX_STAYS = 8

interface ObservationBase<F> {
  /** Facts about the outcome: identifiers, times, counts, booleans and fingerprints. Never content, never a credential. */
  readonly facts: F
  /**
   * Every stay that the destination's own log shows, in any order; empty where the log shows none. Leave it out where no log can
   * be read, or where the log has a gap after `claimed_at` less the profile's `removedWithinMs`. Eight at most: where the log shows more, the
   * first that ended after `windowStart`, because the earliest that counts decides.
   */
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
  /** Largest age of the answer in milliseconds, because replicas lag behind. The host adds the age of an `Age` header. */
  readonly ageMs?: number
  /**
   * The identity of the destination that was read, for a connection type that is `identified`: read in this check, in the probe's form. The
   * host compares it with the connection's and does not record it.
   */
  readonly identity?: string
  /**
   * The destination's time during this check, as answers of its bound it, where the host reads no clock there: by IMAP's `YOUNGER`. Without one,
   * the times of `stays` count for nothing. The host does not record it as it is.
   */
  readonly clock?: LogTime
}

/** The report of a verifier: what it saw, never a verdict. */
export type Observation<F = JsonObject> =
  | (ObservationBase<F> & {
      readonly kind: 'present'
      /** The profile's required fields that do not match; empty when the outcome is there as claimed. */
      readonly differs: readonly string[]
    })
  /** `absent`: the destination was read, and the outcome is not there. */
  | (ObservationBase<F> & { readonly kind: 'absent' })

/** Reasons why a verifier could not read its destination. */
export const DESTINATION_ERROR_CODES = [
  'unauthorized',
  'forbidden',
  'no_connection',
  'rate_limited',
  'unavailable',
  'timeout',
  'unexpected_response',
  // `too_large`: the answer is larger than a check may read.
  'too_large',
  // `misconfigured`: the connection's options cannot work as they are.
  'misconfigured',
  // `unsupported_target`: this verifier cannot read targets of this kind.
  'unsupported_target',
  'ambiguous_claim',
] as const
export type DestinationErrorCode = (typeof DESTINATION_ERROR_CODES)[number]

/** Reasons why a check saw nothing. None is evidence for or against the agent. */
export const FAILURE_CODES = [...DESTINATION_ERROR_CODES, 'unsupported_action', 'verifier_error'] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

export interface Failure {
  readonly code: FailureCode
  /** The moment before which the destination asked not to be read again. */
  readonly retryAt?: Instant
  /** The HTTP status of the answer, where there was one. */
  readonly status?: number
  /** Tells, with `no_connection`, that the claim was submitted under a connection that its owner has removed since. */
  readonly connectionRemoved?: true
  /** Tells that the check ended its plugin's process. It is not part of the published evidence. */
  readonly endedProcess?: true
}

/** The place that the host read, by its own account. `listed` tells whether the operator lists the address as that provider's public place. */
export type Source =
  | { readonly provider: string; readonly listed: boolean; readonly baseUrl: string }
  /**
   * The source of a workspace that withholds the address. The id is the same for every read through one connection, and does not reveal the address.
   */
  | { readonly provider: string; readonly listed: false; readonly sourceId: string }

/** The code that made a check, as receipts name it. */
export interface PluginName {
  /** The package's name; the plugin's own name if it is a lone file. */
  readonly package: string
  readonly version?: string
  /** The digest of the plugin's files: `sha256:` and base64url. */
  readonly codeHash?: string
}

interface CheckTimes {
  /** Time just before the first request was sent. */
  readonly sentAt: Instant
  /** Time just after the last answer had arrived. */
  readonly answeredAt: Instant
  /** The plugin that was asked. Absent where none was, and in records from before receipts named plugins. */
  readonly plugin?: PluginName
  /** Tells that the check was made beside the claim's schedule (`hintedRecord`). It is not part of the published evidence. */
  readonly hinted?: true
}

/** A check that read the destination. */
export interface ReadRecord extends CheckTimes {
  readonly observation: Observation
  /** The largest difference between the destination's clock and ours, in milliseconds, without sign. */
  readonly clockOffsetMs: number
  /** Tells whether the destination stated its time. Otherwise nothing bounds the offset, and its log gives no points in time. */
  readonly dated?: boolean
  /** Milliseconds by which the destination's clock was ahead of ours at least; below 0, behind it. Absent if neither is certain. */
  readonly clockAheadMs?: number
  /** Milliseconds by which our clock was set since the claim's submission, against a monotonic clock; absent if it was not. */
  readonly clockSetMs?: number
  /** Largest age of the answer in milliseconds. Defaults to 0. */
  readonly ageMs?: number
  readonly source?: Source
  /**
   * Number of answers of the source's origin that the check, or the read that it joined, had. Absent in records from before hosts counted.
   */
  readonly answers?: number
}

/** A check that could not read the destination. */
interface FailedRecord extends CheckTimes {
  readonly failure: Failure
}

/** One check of a claim, as recorded. A verdict follows from a claim's records alone. */
export type CheckRecord = ReadRecord | FailedRecord

/** The interval in which the outcome appeared. `notBefore` is absent if it is not known. */
export interface Interval {
  readonly notBefore?: Instant
  readonly notAfter: Instant
  /** `destination` if its own log narrowed the interval, `observation` if our reads alone did. */
  readonly source: 'destination' | 'observation'
}

export function isRead(record: CheckRecord): record is ReadRecord {
  return 'observation' in record
}

/** The mark of a read; undefined for a check that could not read, too. */
export function markOf(check: CheckRecord | undefined): Mark | undefined {
  return check && isRead(check) ? check.observation.mark : undefined
}

/** Tells whether a read shows the outcome, all required fields equal. */
export function showsOutcome(record: CheckRecord): boolean {
  return isRead(record) && showsClaimed(record.observation)
}

/** Tells whether an observation shows the outcome, with nothing that differs from the claim. */
export function showsClaimed(observation: Observation): boolean {
  return observation.kind === 'present' && observation.differs.length === 0
}
