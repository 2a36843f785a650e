/** Readings of a check's answers: the destination's clock, the answers' age, and tokens that they could repeat. */
import { agesOf } from '../contract/old-copies.ts'
import type { Instant, LogTime, ReadRecord } from '../evidence.ts'
import { MAX_AGE_MS } from '../rules/consistency.ts'

export interface Readings {
  /** Time just before the first request; undefined while there was none. */
  readonly sentAt: Instant | undefined
  /** Bounds of how far the destination's clock is ahead of ours, in milliseconds; undefined without a `Date` header. */
  readonly ahead: { readonly least: number; readonly most: number } | undefined
  /** Tells whether an answer had no `Date` header. */
  readonly isUndated: boolean
  /** The largest age by `Age` headers, in milliseconds; more than any that counts where one cannot be read. */
  readonly ageMs: number
  /** Access tokens that the requests carried. Nothing that is signed may repeat them. */
  readonly tokens: readonly string[]
  /** The answers, by the number of the request, statement, connection or program that asked for them. */
  readonly answers?: ReadonlyMap<number, AnswerRecord>
}

/** The record that an answer came. */
export interface AnswerRecord {
  /** The origin of the base address of the check that asked. */
  readonly origin: string
  /** Number of the answered request in this process. Unlike a clock, it is never set back. */
  readonly asked: number
}

export const NO_READINGS: Readings = { sentAt: undefined, ahead: undefined, isUndated: false, ageMs: 0, tokens: [] }

/** Limit of the stored answers, above what a check may ask for. Of answers that reads hand on to each other, the newest stay. */
const MOST_ANSWERS = 100

/** Resolution of the `Date` header, which has whole seconds. */
const RESOLUTION_MS = 1000

export function readAnswer(headers: Headers, sentAt: Instant, answeredAt: Instant): Readings {
  const at = Date.parse(headers.get('date') ?? '')
  return {
    ...readTime(Number.isNaN(at) ? undefined : { at, resolutionMs: RESOLUTION_MS }, sentAt, answeredAt),
    ageMs: ageMsOf(headers),
  }
}

/** An age that nobody knows, above any that counts. */
const UNKNOWN_AGE_MS = MAX_AGE_MS + 1

/** Reads the age of an answer in milliseconds. Of the ages that several caches give, the largest counts. */
function ageMsOf(headers: Headers): number {
  const ageMs = Math.max(0, ...agesOf(headers)) * 1000
  return ageMs === Infinity ? UNKNOWN_AGE_MS : ageMs
}

export interface ToldTime {
  readonly at: Instant
  /** Milliseconds by which the true time may be later. */
  readonly resolutionMs: number
}

/** Makes readings of the time that an answer told. @param time undefined for an answer that told none */
export function readTime(time: ToldTime | undefined, sentAt: Instant, answeredAt: Instant): Readings {
  const ahead = time && { least: time.at - answeredAt, most: time.at + time.resolutionMs - 1 - sentAt }
  return { sentAt, ahead, isUndated: !time, ageMs: 0, tokens: [] }
}

/** Merges two readings, each doubt at its largest. `joinAnswers` merges their answers. */
export function mergeReadings(one: Readings, other: Readings): Readings {
  const [a, b] = [one.ahead, other.ahead]
  return {
    sentAt: earliest(one.sentAt, other.sentAt),
    ahead: a && b ? { least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) } : (a ?? b),
    isUndated: one.isUndated || other.isUndated,
    ageMs: Math.max(one.ageMs, other.ageMs),
    tokens: [...new Set([...one.tokens, ...other.tokens])],
  }
}

/** Adds the answers of another check. If there are very many, the newest stay. */
export function joinAnswers(all: Map<number, AnswerRecord>, others: ReadonlyMap<number, AnswerRecord>): void {
  for (const [id, answered] of others) if (answered.asked >= (all.get(id)?.asked ?? 0)) all.set(id, answered)
  const oldest = [...all].toSorted(([, one], [, other]) => one.asked - other.asked)
  for (const [id] of oldest.slice(0, Math.max(0, all.size - MOST_ANSWERS))) all.delete(id)
}

function earliest(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** The largest difference between the destination's clock and ours, in milliseconds, without sign; undefined if it is not known. */
export function clockOffset({ ahead, isUndated }: Readings): number | undefined {
  if (!ahead || isUndated) return undefined
  return Math.max(Math.abs(ahead.least), Math.abs(ahead.most))
}

/**
 * Adds the time that a check itself found out to readings of answers that tell none. The bounds are those of the whole check.
 * @param told undefined where the check found out none
 */
export function withToldTime(
  readings: Readings,
  told: LogTime | undefined,
  { sentAt, answeredAt }: { readonly sentAt: Instant; readonly answeredAt: Instant },
): Readings {
  // A clock that the host itself reads is not what the plugin says that it is.
  if (told?.notBefore === undefined || readings.ahead) return readings
  const time = { at: told.notBefore, resolutionMs: told.notAfter - told.notBefore + 1 }
  const { ahead } = readTime(time, sentAt, answeredAt)
  return { ...readings, ahead, isUndated: false }
}

/** The part of a record that says how the destination's clock compares with ours. */
export function clockReading(readings: Readings): Pick<ReadRecord, 'clockOffsetMs' | 'dated' | 'clockAheadMs'> {
  const offset = clockOffset(readings)
  if (offset === undefined) return { clockOffsetMs: 0, dated: false }
  const { least, most } = readings.ahead!
  const certain = least > 0 ? least : Math.min(most, 0)
  return { clockOffsetMs: offset, dated: true, ...(certain !== 0 && { clockAheadMs: certain }) }
}
