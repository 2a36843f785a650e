/** Reads times by a host's own clock. */
import { DestinationError, type LogTime } from '@claimcheck/core/plugin'

/**
 * Reads a time as a host writes it: a whole second stands for all of it.
 * @throws DestinationError `unexpected_response` for a text that is no time
 */
export function logTime(text: string): Required<LogTime> {
  const notBefore = Date.parse(text)
  if (Number.isNaN(notBefore)) throw new DestinationError('unexpected_response')
  return { notBefore, notAfter: /:\d\d\.\d/.test(text) ? notBefore : notBefore + 999 }
}

/** Reads a time that the host writes down some time after the fact; undefined where it has none. */
export function notAfter(text: string): LogTime
export function notAfter(text: string | null | undefined): LogTime | undefined
export function notAfter(text: string | null | undefined): LogTime | undefined {
  return typeof text === 'string' ? atLast(logTime(text)) : undefined
}

/** The time of the last occurrence that a host has: an earlier one may have come, and gone again, before. */
export function atLast({ notAfter }: LogTime): LogTime {
  return { notAfter }
}

/** The time when both events had come. */
export function laterOf(one: LogTime, other: LogTime): LogTime {
  const begins = [one.notBefore, other.notBefore].filter((begin) => begin !== undefined)
  const notAfter = Math.max(one.notAfter, other.notAfter)
  return begins.length > 0 ? { notBefore: Math.max(...begins), notAfter } : { notAfter }
}

/** Writes a time as facts have it; undefined where there is none. */
export function timeAsFact(time: LogTime | undefined): string | undefined {
  return time && new Date(time.notBefore ?? time.notAfter).toISOString()
}

/** The latest of several times, of which some may be missing. */
export function latestOf(texts: readonly (string | null | undefined)[]): Required<LogTime> | undefined {
  const times = texts.filter((text) => typeof text === 'string').map(logTime)
  return times.reduce<Required<LogTime> | undefined>(
    (latest, time) => (latest && latest.notAfter >= time.notAfter ? latest : time),
    undefined,
  )
}
