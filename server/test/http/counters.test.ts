import { createCounters } from '@claimcheck/server/http/counters'
import t from 'tap'
import { NOW } from './support/services.ts'

function open() {
  const time = { now: NOW }
  const counters = createCounters({ storage: { shared: undefined }, now: () => time.now })
  return { time, counters }
}

t.test('each limiter counts each subject apart, within one minute of the clock', async (t) => {
  const { time, counters } = open()
  const leftMs = 60_000 - (NOW % 60_000)
  t.strictSame(counters.last('key', 'a'), { count: 0, leftMs })
  t.strictSame(await counters.add('key', 'a'), { count: 1, leftMs })
  time.now += 1000
  t.strictSame(await counters.add('key', 'a'), { count: 2, leftMs: leftMs - 1000 })
  t.match(counters.last('key', 'a'), { count: 2 }, 'asking for it counts nothing')
  t.match(await counters.add('key', 'b', 20), { count: 20 })
  t.match(await counters.add('key', 'b', 3), { count: 23 })
  t.match(await counters.add('log', 'a'), { count: 1 })
  time.now += leftMs - 1000
  t.strictSame(counters.last('key', 'a'), { count: 0, leftMs: 60_000 })
})

t.test('what is counted is bounded: the subjects that asked last are kept', async (t) => {
  const { counters } = open()
  await counters.add('key', 'first')
  await counters.add('receipts', 'elsewhere')
  for (let subject = 1; subject < 20_000; subject++) await counters.add('key', String(subject))
  t.match(await counters.add('key', 'first'), { count: 2 })
  await counters.add('key', 'one more')
  t.match(counters.last('key', '1'), { count: 0 })
  t.match(counters.last('key', 'first'), { count: 2 })
  t.match(counters.last('receipts', 'elsewhere'), { count: 1 }, 'each limiter has its own bound')
})
