/** Times by a host's own clock. */
import { DestinationError, type LogTime } from '@claimcheck/core/plugin'

/**
 * A time as a host writes it: a whole second stands for all of it.
 * @throws DestinationError `unexpected_response` for what is no time
 */
export function logTime(text: string): Required<LogTime> {
  const notBefore = Date.parse(text)
  if (Number.isNaN(notBefore)) throw new DestinationError('unexpected_response')
  return { notBefore, notAfter: /:\d\d\.\d/.test(text) ? notBefore : notBefore + 999 }
}

/** A time that the host writes down some time after the fact. */
export function notAfter(text: string): LogTime {
  return { notAfter: logTime(text).notAfter }
}

/** A time that the host has of the last time that it came about: it may have come about, and gone again, before. */
export function atLast({ notAfter }: LogTime): LogTime {
  return { notAfter }
}

/** When both had come. */
export function laterOf(one: LogTime, other: LogTime): LogTime {
  const begins = [one.notBefore, other.notBefore].filter((begin) => begin !== undefined)
  const notAfter = Math.max(one.notAfter, other.notAfter)
  return begins.length > 0 ? { notBefore: Math.max(...begins), notAfter } : { notAfter }
}

/** As a fact. */
export function shownTime({ notBefore, notAfter }: LogTime): string {
  return new Date(notBefore ?? notAfter).toISOString()
}

/** The latest of several, of which some may be missing. */
export function latestOf(texts: readonly (string | null | undefined)[]): Required<LogTime> | undefined {
  const times = texts.filter((text) => typeof text === 'string').map(logTime)
  return times.reduce<Required<LogTime> | undefined>(
    (latest, time) => (latest && latest.notAfter >= time.notAfter ? latest : time),
    undefined,
  )
}
