import { readTimestamp } from '@claimcheck/server/base/timestamp'
import t from 'tap'

const AT = Date.UTC(2026, 8, 25, 14, 2, 11)
const HOUR_MS = 3_600_000

t.test('a timestamp is RFC 3339 with any offset, taken in UTC and cut to milliseconds', async (t) => {
  const rows: [string, ReturnType<typeof readTimestamp>][] = [
    ['2026-09-25T14:02:11Z', AT],
    ['2026-09-25T14:02:11.5Z', AT + 500],
    ['2026-09-25T14:02:11.000Z', AT],
    ['2026-09-25T14:02:11.123456+00:00', AT + 123],
    ['2026-09-25T14:02:11.9999999999Z', AT + 999],
    ['1970-01-01T00:00:00Z', 0],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    ['2026-09-25T14:02:11', 'no_zone'],
    ['2026-09-25T14:02:11+02:00', AT - 2 * HOUR_MS],
    ['2026-09-25T14:02:11.5-05:30', AT + 5.5 * HOUR_MS + 500],
    ['2026-09-25T14:02:11-00:00', AT],
    ['2026-09-25T14:02:11+23:59', AT - 24 * HOUR_MS + 60_000],
    ['2026-09-25t14:02:11z', AT],
    ['1969-12-31T23:00:00-02:00', HOUR_MS],
    ['1970-01-01T00:00:00+00:01', 'before_1970'],
    ['9999-12-31T23:59:59-00:01', 'malformed'],
    ['9999-12-31T24:00:00.000Z', 'malformed'],
    ['2026-09-25T14:02:11+24:00', 'malformed'],
    ['2026-09-25T14:02:11+02:60', 'malformed'],
    ['2026-09-25T14:02:11+02', 'malformed'],
    ['2026-09-25T14:02:11+0200', 'malformed'],
    ['1969-12-31T23:59:59.999Z', 'before_1970'],
    ['0000-01-01T00:00:00Z', 'before_1970'],
    ['2026-02-30T00:00:00Z', 'malformed'],
    ['2027-02-29T00:00:00Z', 'malformed'],
    ['2026-13-01T00:00:00Z', 'malformed'],
    ['2026-09-25T24:00:00Z', 'malformed'],
    ['2026-09-25T14:02:60Z', 'malformed'],
    ['2026-09-25T14:02Z', 'malformed'],
    ['2026-09-25', 'malformed'],
    ['2026-09-25 14:02:11Z', 'malformed'],
    ['2026-09-25T14:02:11.Z', 'malformed'],
    ['2026-09-25T14:02:11ZZ', 'malformed'],
    ['+12026-09-25T14:02:11Z', 'malformed'],
    ['yesterday', 'malformed'],
    ['', 'malformed'],
  ]
  for (const [text, expected] of rows) t.equal(readTimestamp(text), expected, text || 'the empty text')
})
