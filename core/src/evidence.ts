/** Evidence: what a check saw, as it is recorded, and what it tells of when the outcome appeared. */
import type { JsonObject } from './json.ts'

/** A moment, in milliseconds since the Unix epoch. */
export type Instant = number

/** When the outcome appeared by the destination's own clock or log. Both ends belong to it; give a time in whole seconds as the whole second. */
export interface Appearance {
  readonly notBefore?: Instant
  readonly notAfter: Instant
}

/** What a verifier reports: what it saw, never a verdict. */
export type Observation<F = JsonObject> =
  | {
      readonly kind: 'present'
      readonly facts: F
      /** The profile's required fields that do not match; empty when the outcome is there as claimed. */
      readonly differs: readonly string[]
      readonly appeared?: Appearance
      /** No later read can show anything else, or tell more about when. */
      readonly settled?: boolean
    }
  | {
      /** The destination was read, and the outcome is not there. */
      readonly kind: 'absent'
      readonly facts: F
      /** The destination's own record settles that it never was there. */
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

/** Why a check saw nothing. It is never evidence for or against the agent. */
export type FailureCode = DestinationErrorCode | 'unsupported_action' | 'verifier_error'

export interface Failure {
  readonly code: FailureCode
  /** The destination asked not to be read again before this. */
  readonly retryAt?: Instant
  /** The HTTP status that was the answer, where there was one. */
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
  /** How far the destination's clock was seen to be off from ours, without sign. Milliseconds. */
  readonly clockOffsetMs: number
}

/** A check that could not read it. */
export interface FailedRecord extends Checked {
  readonly failure: Failure
}

/** One check of a claim, as recorded. A verdict follows from a claim's records alone. */
export type CheckRecord = ReadRecord | FailedRecord

export function isRead(record: CheckRecord): record is ReadRecord {
  return 'observation' in record
}

/** The read shows the outcome, all required fields equal. */
export function showsOutcome(record: CheckRecord): boolean {
  return isRead(record) && record.observation.kind === 'present' && record.observation.differs.length === 0
}

/** Further off than this, a destination's clock tells nothing about when. Milliseconds. */
const LARGEST_CLOCK_OFFSET_MS = 24 * 60 * 60_000

/** Between which moments the outcome appeared. `notBefore` is absent when nothing is known of it. */
export interface Interval {
  readonly notBefore?: Instant
  readonly notAfter: Instant
  /** `destination`: its own clock or log narrowed it. `observation`: our reads alone. */
  readonly source: 'destination' | 'observation'
}

/**
 * When the outcome appeared, by everything recorded. `undefined`: no read showed it. `'contradictory'`: the
 * destination's times and our reads exclude each other.
 */
export function appearance(history: readonly CheckRecord[], lagMs: number): Interval | 'contradictory' | undefined {
  const reads = history.filter(isRead)
  const shown = reads.filter(showsOutcome)
  if (shown.length === 0) return undefined

  // A read that did not show it bounds from below by the moment it was sent, less the age an answer may have.
  // Only reads before the first that showed it count: later absence means that it went, not that it had not come. Before
  // is by their order, so that a clock that was set back between them shows as the contradiction that it is.
  const unseenBefore = reads.slice(0, reads.findIndex(showsOutcome)).map((read) => read.sentAt - lagMs)

  const points = shown.flatMap(({ observation, clockOffsetMs }) =>
    observation.kind === 'present' && observation.appeared && clockOffsetMs <= LARGEST_CLOCK_OFFSET_MS
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
