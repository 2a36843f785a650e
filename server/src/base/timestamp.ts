/** Reads the timestamps of clients: ISO 8601 in UTC, with any number of fraction digits. */
import { type Instant, parseInstant } from '@claimcheck/core'

export type TimestampProblem = 'malformed' | 'no_zone' | 'not_utc' | 'before_1970'

const ISO_8601 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/

/** Cuts the time to milliseconds and never rounds it up: that would make claimed_at later than the client said. */
export function readTimestamp(text: string): Instant | TimestampProblem {
  const [match, seconds, fraction = '', zone] = ISO_8601.exec(text) ?? []
  if (match === undefined) return 'malformed'
  const instant = parseInstant(`${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  if (instant === undefined) return 'malformed'
  if (zone === undefined) return 'no_zone'
  if (zone !== 'Z' && zone !== '+00:00') return 'not_utc'
  return instant < 0 ? 'before_1970' : instant
}
