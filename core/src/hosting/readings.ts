/** What the answers of a check say about the destination's clock, and about their age, and what they could repeat. */
import type { Instant } from '../evidence.ts'

export interface Readings {
  /** Just before the first request; undefined while there was none. */
  readonly sentAt: Instant | undefined
  /** Between which two values the destination's clock is ahead of ours, in milliseconds; undefined without a `Date` header. */
  readonly ahead: { readonly least: number; readonly most: number } | undefined
  /** An answer had no `Date` header. */
  readonly isUndated: boolean
  /** By the `Age` header. Milliseconds. */
  readonly ageMs: number
  /** Access tokens that the requests carried: nothing that is signed may repeat them. */
  readonly tokens: readonly string[]
  /** By what asked for them: a request, a statement, a connection, a program. None, when left out. */
  readonly answers?: ReadonlyMap<number, Answered>
}

/** That an answer came. */
export interface Answered {
  /** Of the base address of the check that asked. */
  readonly origin: string
  /** When it was asked for, among all that `CheckUsage` began in this process: clocks are set back, and this is not. */
  readonly asked: number
}

export const NO_READINGS: Readings = { sentAt: undefined, ahead: undefined, isUndated: false, ageMs: 0, tokens: [] }

/** More than a check may ask for. Of those that reads hand on to each other, the newest are kept. */
const MOST_ANSWERS = 100

/** The header has whole seconds, so the whole second counts as doubt. */
const RESOLUTION_MS = 1000

export function readAnswer(headers: Headers, sentAt: Instant, answeredAt: Instant): Readings {
  const at = Date.parse(headers.get('date') ?? '')
  const age = headers.get('age') ?? ''
  return {
    ...readTime(Number.isNaN(at) ? undefined : { at, resolutionMs: RESOLUTION_MS }, sentAt, answeredAt),
    ageMs: /^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0,
  }
}

/** As `readAnswer`, for a time that another protocol told. @param time undefined where the answer that should tell it did not */
export function readTime(
  time: { readonly at: Instant; readonly resolutionMs: number } | undefined,
  sentAt: Instant,
  answeredAt: Instant,
): Readings {
  const ahead = time && { least: time.at - answeredAt, most: time.at + time.resolutionMs - 1 - sentAt }
  return { sentAt, ahead, isUndated: !time, ageMs: 0, tokens: [] }
}

/** Joins what two sets of answers say, each doubt at its largest. That they came is for `joinAnswers`. */
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

/** Takes those of another check over. Of very many the newest stay. */
export function joinAnswers(all: Map<number, Answered>, others: ReadonlyMap<number, Answered>): void {
  for (const [id, answered] of others) if (answered.asked >= (all.get(id)?.asked ?? 0)) all.set(id, answered)
  const oldest = [...all].toSorted(([, one], [, other]) => one.asked - other.asked)
  for (const [id] of oldest.slice(0, Math.max(0, all.size - MOST_ANSWERS))) all.delete(id)
}

function earliest(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** The most that the destination's clock can be off, without sign; undefined where that is not known. Milliseconds. */
export function clockOffset({ ahead, isUndated }: Readings): number | undefined {
  if (!ahead || isUndated) return undefined
  return Math.max(Math.abs(ahead.least), Math.abs(ahead.most))
}
