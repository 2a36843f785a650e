/** Sending yields to claims, and goes on. */
import { createBrake } from '@claimcheck/server/features/webhooks/brake'
import t from 'tap'

t.test('sending rests for the claims that came, though never for ever, and not where there is room', (t) => {
  let claims = 0
  let used = 0.9
  const brake = createBrake(
    () => claims,
    () => ({ active: used, idle: 1 - used, utilization: used }),
  )
  t.equal(brake.restAfter(200), 0, 'no claim came')
  t.notOk(brake.isOn())
  claims += 100
  t.equal(brake.restAfter(200), 150)
  t.ok(brake.isOn())
  t.equal(brake.restAfter(200), 0, 'each claim counts once')
  claims += 5000
  t.equal(brake.restAfter(200), 800, 'at least 250 deliveries a second')
  claims += 5000
  t.equal(brake.restAfter(0), 0)
  claims += 5000
  used = 0.2
  t.equal(brake.restAfter(200), 0, 'a host with room for both')
  t.end()
})
