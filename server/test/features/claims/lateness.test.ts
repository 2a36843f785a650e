import { createLateness } from '@claimcheck/server/features/claims/lateness'
import t from 'tap'
import { claimNumber } from '../../support/claim-row.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const D = NOON + 900_000
const claim = claimNumber(1, { deadlineAt: D, nextCheckAt: D })
const read = (sentAt: number) => ({ sentAt, answeredAt: sentAt + 10, failure: { code: 'timeout' as const } })

t.test('the first read after a deadline tells how late it is, and later ones nothing', async (t) => {
  const clock = { now: D }
  const { note, state } = createLateness({ now: () => clock.now })
  t.strictSame(state(), { latestMs: 0, largestMs: 0 })
  note(claim, [], read(D - 1))
  note(claim, [read(D - 1)], read(D + 1500))
  t.strictSame(state(), { latestMs: 1500, largestMs: 1500 })
  note(claim, [read(D + 1500)], read(D + 60_000))
  note({ ...claim, nextCheckAt: D + 2000 }, [], read(D + 2100))
  t.strictSame(state(), { latestMs: 100, largestMs: 1500 }, 'where answers may be old, the read is planned later')
  clock.now += 5 * 60_000
  t.match(state(), { largestMs: 1500 })
  clock.now += 5 * 60_000
  t.match(state(), { latestMs: 100, largestMs: 0 })
})

t.test('a claim that nothing is read for is never late', async (t) => {
  const { note, state } = createLateness({ now: () => D })
  note(claim, [], { ...read(D + 5000), failure: { code: 'no_connection' } })
  t.match(state(), { latestMs: 0 })
})
