/** Reads the timestamps of clients: RFC 3339 with any offset and any number of fraction digits. */
import { formatInstant, type Instant, LATEST_INSTANT, parseInstant } from '@claimcheck/core/rules'

export type TimestampProblem = 'malformed' | 'no_zone' | 'before_1970'

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))?$/

/** Reads a timestamp, cut to milliseconds. It is never rounded up: that would make claimed_at later than the client said. */
export function readTimestamp(text: string): Instant | TimestampProblem {
  const plain = parseInstant(text)
  if (plain !== undefined && plain >= 0) return plain
  const [match, date, time, fraction = '', zone, sign, hours = '0', minutes = '0'] = RFC_3339.exec(text) ?? []
  if (match === undefined) return 'malformed'
  const local = parseInstant(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  if (local === undefined) return 'malformed'
  if (zone === undefined) return 'no_zone'
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  const instant = sign === '-' ? local + offsetMs : local - offsetMs
  // An offset can lead beyond the latest instant.
  if (instant > LATEST_INSTANT) return 'malformed'
  return instant < 0 ? 'before_1970' : instant
}

export function formatOrNull(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant)
}
