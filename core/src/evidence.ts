/** What a check of a claim saw, as it is recorded, and what these records say about when the outcome appeared. */
import type { JsonObject } from './json.ts'

/** A moment, in milliseconds since the Unix epoch. */
export type Instant = number

/**
 * When the outcome appeared, by the destination's own clock or log. Both ends are included: a log that writes whole seconds gives the
 * first and the last millisecond of the second.
 */
export interface Appearance {
  readonly notBefore?: Instant
  readonly notAfter: Instant
}

/** What a verifier saw. The verdict is decided from it elsewhere. */
export type Observation<F = JsonObject> =
  | {
      readonly kind: 'present'
      readonly facts: F
      /** The names of the profile's required fields that do not match. Empty: the outcome is there as claimed. */
      readonly differs: readonly string[]
      readonly appeared?: Appearance
      /** No later read can show anything else, or say more about when it appeared. */
      readonly settled?: boolean
    }
  | {
      /** The destination was read, and the outcome is not there. A destination that could not be read is a `DestinationError`. */
      readonly kind: 'absent'
      readonly facts: F
      /** The destination's own record shows that the outcome was never there. */
      readonly settled?: boolean
    }

/** Why a verifier could not read its destination. */
export const DESTINATION_ERROR_CODES = [
  'unauthorized',
  'forbidden',
  'no_connection',
  'rate_limited',
  'unavailable',
  'timeout',
  'unexpected_response',
  'ambiguous_claim',
] as const
export type DestinationErrorCode = (typeof DESTINATION_ERROR_CODES)[number]

/** Why a check could not read its destination. It is never evidence for or against the agent. */
export type FailureCode = DestinationErrorCode | 'unsupported_action' | 'verifier_error'

export interface Failure {
  readonly code: FailureCode
  /** The destination asks not to be read again before this. */
  readonly retryAt?: Instant
  /** The HTTP status of the answer, if there was an answer. */
  readonly status?: number
}

interface Checked {
  /** Just before the first request was sent. */
  readonly sentAt: Instant
  /** Just after the last answer had arrived. */
  readonly answeredAt: Instant
}

/** A check that read the destination. */
export interface ReadRecord extends Checked {
  readonly observation: Observation
  /** The largest difference that was measured between the destination's clock and ours, without sign. Milliseconds. */
  readonly clockOffsetMs: number
}

/** A check that could not read the destination. */
export interface FailedRecord extends Checked {
  readonly failure: Failure
}

/** One check of a claim. A claim's verdict follows from its records alone. */
export type CheckRecord = ReadRecord | FailedRecord

export function isRead(record: CheckRecord): record is ReadRecord {
  return 'observation' in record
}

/** The check read the destination, and the outcome is there with all required fields equal. */
export function showsOutcome(record: CheckRecord): boolean {
  return isRead(record) && record.observation.kind === 'present' && record.observation.differs.length === 0
}

/** The times of a destination whose clock is further off are ignored. */
const MAX_CLOCK_OFFSET_MS = 24 * 60 * 60_000

/** The outcome appeared at or between these two moments. */
export interface Interval {
  /** Absent when no read and no time of the destination bounds it. */
  readonly notBefore?: Instant
  readonly notAfter: Instant
  /** `destination`: the destination's own times narrowed it. `observation`: it follows from our reads alone. */
  readonly source: 'destination' | 'observation'
}

/**
 * When the outcome appeared, by all records of a claim.
 *
 * @param history oldest first
 * @param lagMs how old an answer of the destination can be
 * @returns `undefined` when no read showed it, `'contradictory'` when the recorded times exclude each other
 */
export function appearance(history: readonly CheckRecord[], lagMs: number): Interval | 'contradictory' | undefined {
  const reads = history.filter(isRead)
  const shown = reads.filter(showsOutcome)
  if (shown.length === 0) return undefined

  // A read without the outcome shows that it appeared after the read was sent, less the age that an answer can have. Only reads before
  // the first that showed it count: a later absence means that it was removed. "Before" is the order of the records, not of their times:
  // if our clock was set back in between, the bounds contradict each other, and no wrong interval results.
  const unseenBefore = reads.slice(0, reads.findIndex(showsOutcome)).map((read) => read.sentAt - lagMs)

  const points = shown.flatMap(({ observation, clockOffsetMs }) =>
    observation.kind === 'present' && observation.appeared && clockOffsetMs <= MAX_CLOCK_OFFSET_MS
      ? [
          {
            notBefore: (observation.appeared.notBefore ?? Number.NEGATIVE_INFINITY) - clockOffsetMs,
            notAfter: observation.appeared.notAfter + clockOffsetMs,
          },
        ]
      : [],
  )

  const notBefore = Math.max(...unseenBefore, ...points.map((point) => point.notBefore))
  const notAfter = Math.min(...shown.map((read) => read.answeredAt), ...points.map((point) => point.notAfter))
  if (notBefore > notAfter) return 'contradictory'
  return {
    ...(notBefore === Number.NEGATIVE_INFINITY ? {} : { notBefore }),
    notAfter,
    source: points.length > 0 ? 'destination' : 'observation',
  }
}
