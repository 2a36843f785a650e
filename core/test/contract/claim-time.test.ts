/** A claim's time beside reads and records. */
import { clockBehindMs, isLongBefore } from '@claimcheck/core/plugin'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE = 60_000

t.test('the clock of a destination is told by its Date header alone', async (t) => {
  const date = (text: string) => new Headers({ date: text })
  t.equal(clockBehindMs(date('Fri, 25 Sep 2026 11:59:00 GMT'), NOON), MINUTE)
  t.equal(clockBehindMs(date('Fri, 25 Sep 2026 12:00:10 GMT'), NOON), -10_000, 'it is ahead')
  t.equal(clockBehindMs(date('noon'), NOON), undefined)
  t.equal(clockBehindMs(new Headers(), NOON), undefined)
})

t.test('long before the claim is more than the tolerance before it', async (t) => {
  const claim = { claimedAt: NOON, inTimeUntil: NOON + 10 * MINUTE }
  const edge = NOON - 10 * MINUTE
  const exact = { clockBehindMs: 0 }
  t.ok(isLongBefore({ notAfter: edge - 1 }, exact, claim))
  t.notOk(isLongBefore({ notAfter: edge }, exact, claim))
  t.notOk(isLongBefore({ notBefore: edge - 500, notAfter: edge + 499 }, exact, claim), 'somewhere in that second')
  t.notOk(isLongBefore({ notAfter: edge - MINUTE }, { clockBehindMs: MINUTE }, claim), 'by a clock that is behind')
  t.ok(isLongBefore({ notAfter: edge - MINUTE - 1 }, { clockBehindMs: MINUTE }, claim))
  t.notOk(
    isLongBefore({ notAfter: edge }, { clockBehindMs: -MINUTE }, claim),
    'a clock that is ahead makes nothing older',
  )
})

t.test('what is not known is not long before the claim', async (t) => {
  const claim = { claimedAt: NOON, inTimeUntil: NOON + MINUTE }
  t.notOk(isLongBefore({ notAfter: 0 }, {}, claim))
  t.notOk(isLongBefore({ notAfter: 0 }, { clockBehindMs: undefined }, claim))
  t.notOk(isLongBefore(undefined, { clockBehindMs: 0 }, claim))
})
