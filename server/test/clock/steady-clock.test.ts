import { steadyClock } from '@claimcheck/server/clock/steady-clock'
import t from 'tap'

const HOUR_MS = 3_600_000
const NOON = Date.UTC(2026, 8, 25, 12)

/** Its clocks begin at different values. @param counts whether its monotonic clock counts the time in which it is suspended */
function machine({ counts = false } = {}) {
  const state = { passed: 0, suspended: 0, set: 0, monotonicSet: 0 }
  const clock = steadyClock({
    monotonic: () => 5000 + state.passed + (counts ? state.suspended : 0) + state.monotonicSet,
    // In whole seconds, as some systems have it.
    uptime: () => Math.floor((7777 + state.passed + state.suspended) / 1000) * 1000,
    wall: () => NOON + state.passed + state.suspended + state.set,
  })
  const begun = clock()
  return { state, shown: () => clock() - begun }
}

t.test('it goes on at its own pace, however the clock of the system is set', async (t) => {
  const { state, shown } = machine()
  for (const set of [HOUR_MS, -HOUR_MS, 20 * 60_000, 0]) {
    state.set = set
    state.passed += 1000
    t.equal(shown(), state.passed)
  }
})

t.test('it counts the time in which the machine was suspended, whether the monotonic clock does or not', async (t) => {
  for (const counts of [false, true]) {
    const { state, shown } = machine({ counts })
    for (const suspended of [HOUR_MS, 3 * HOUR_MS]) {
      state.suspended = suspended
      t.ok(Math.abs(shown() - state.passed - suspended) <= 1000, `${counts} ${suspended}`)
      state.passed += 10_000
      const before = shown()
      state.passed += 5000
      t.equal(shown() - before, 5000)
    }
  }
})

t.test('where the monotonic clock is set together with the other, the uptime shows that', async (t) => {
  const { state, shown } = machine()
  for (const set of [HOUR_MS, 0, -HOUR_MS]) {
    state.set = set
    state.monotonicSet = set
    state.passed += 1500
    t.ok(Math.abs(shown() - state.passed) <= 1000, `${set}`)
  }
})

t.test('a clock that was set while the machine was suspended adds no more than the suspension', async (t) => {
  const { state, shown } = machine()
  state.suspended = HOUR_MS
  state.set = 20 * 60_000
  t.ok(Math.abs(shown() - HOUR_MS) <= 1000)
})

t.test('that of this machine does not run back', async (t) => {
  const clock = steadyClock()
  const first = clock()
  t.ok(clock() >= first)
  t.ok(Math.abs(first - Date.now()) < 86_400_000, 'and shows roughly the time')
})
