/** The times at which a delivery is tried again, and the end of tries. */
import { afterTry, GIVE_UP_MS } from '@claimcheck/server/features/webhooks/schedule'
import type { Try } from '@claimcheck/server/features/webhooks/sender'
import type { DeliveryRow } from '@claimcheck/server/storage/webhooks'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const HOUR_MS = 60 * 60_000
const ROW: DeliveryRow = {
  id: 'msg_1',
  workspaceId: 'ws_1',
  targetId: 'wht_1',
  eventNumber: 1,
  type: 'claim.decided',
  subject: 'clm_1',
  likeness: null,
  state: 'waiting',
  attempts: 0,
  firstAt: null,
  dueAt: NOON,
  leasedUntil: NOON,
  triedAt: null,
  status: null,
  durationMs: null,
  fault: null,
  createdAt: NOON,
}

function failed(over: Partial<Try> = {}): Try {
  return { status: 500, durationMs: 7, fault: 'status', retryAfterMs: undefined, ...over }
}

t.test('a delivery that fails for ever is tried for three days, after gaps that grow to six hours', async (t) => {
  const gaps: number[] = []
  let row = ROW
  for (let at = NOON; row.state === 'waiting'; at = row.dueAt) {
    row = { ...row, ...afterTry(row, failed(), at, 0.5) }
    if (row.state === 'waiting') gaps.push((row.dueAt - at) / 1000)
  }
  t.strictSame(gaps.slice(0, 6), [5, 25, 150, 900, 5400, 21_600])
  t.match(row, { state: 'failed', attempts: gaps.length + 1, status: 500, durationMs: 7, fault: 'status' })
  t.ok(row.triedAt! - NOON <= GIVE_UP_MS)
  t.ok(row.triedAt! - NOON > GIVE_UP_MS - 6 * HOUR_MS)
})

t.test('gaps differ by a fifth, so that not all come back at one moment', async (t) => {
  const gapWith = (random: number) => afterTry(ROW, failed(), NOON, random).dueAt - NOON
  t.strictSame([gapWith(0), gapWith(0.5), gapWith(1)], [4000, 5000, 6000])
})

t.test('a receiver that asks for time gets it, but not for ever', async (t) => {
  const dueAfter = (retryAfterMs: number) =>
    afterTry(ROW, failed({ status: 429, retryAfterMs }), NOON, 0.5).dueAt - NOON
  t.strictSame([dueAfter(0), dueAfter(60_000), dueAfter(1e12)], [5000, 60_000, 6 * HOUR_MS])
})

t.test('what arrived is not tried again, and what is gone waits until its webhook is switched on', async (t) => {
  t.match(afterTry(ROW, failed({ status: 204, fault: null }), NOON), { state: 'delivered', attempts: 1, fault: null })
  t.match(afterTry(ROW, failed({ status: 410, fault: 'gone' }), NOON), { state: 'waiting', attempts: 1, fault: 'gone' })
})
