/** Moments as text. */
import { formatInstant, parseInstant } from '@claimcheck/core/rules'
import fc from 'fast-check'
import t from 'tap'

const FIRST = Date.parse('0000-01-01T00:00:00.000Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

t.test('a moment is written in UTC with exactly three fraction digits', async (t) => {
  t.equal(formatInstant(Date.UTC(2026, 8, 25, 14, 2, 11)), '2026-09-25T14:02:11.000Z')
  t.equal(formatInstant(FIRST), '0000-01-01T00:00:00.000Z')
})

t.test('a moment without a four-digit year has no text', async (t) => {
  for (const instant of [FIRST - 1, LAST + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => formatInstant(instant), RangeError)
  }
})

t.test('every moment is read from its text again, and texts sort like the moments', async (t) => {
  const instants = fc.integer({ min: FIRST, max: LAST })
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(instants, instants, (one, other) => {
        const [a, b] = [formatInstant(one), formatInstant(other)]
        return parseInstant(a) === one && a < b === one < other
      }),
    ),
  )
})

t.test('a moment that is written in any other way is refused', async (t) => {
  const others = [
    '2026-09-25T14:02:11Z',
    '2026-09-25T14:02:11.0Z',
    '2026-09-25T14:02:11.0000Z',
    '2026-09-25T14:02:11.000+00:00',
    '2026-09-25T14:02:11.000',
    '2026-09-25 14:02:11.000Z',
    '2026-09-25t14:02:11.000z',
    '2026-9-25T14:02:11.000Z',
    '+002026-09-25T14:02:11.000Z',
    ' 2026-09-25T14:02:11.000Z',
    '2026-09-25T14:02:11.000Z\n',
    '٢٠٢٦-09-25T14:02:11.000Z',
    '2026-02-29T00:00:00.000Z',
    '2026-04-31T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-00-01T00:00:00.000Z',
    '2026-09-00T00:00:00.000Z',
    '2026-09-25T24:00:00.000Z',
    '9999-12-31T24:00:00.000Z',
    '2026-09-25T23:60:00.000Z',
    '2026-12-31T23:59:60.000Z',
  ]
  for (const text of others) t.equal(parseInstant(text), undefined, text)
  t.equal(parseInstant('2024-02-29T00:00:00.000Z'), Date.UTC(2024, 1, 29))
})
