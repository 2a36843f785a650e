import { setImmediate } from 'node:timers/promises'
import { createCounters } from '@claimcheck/server/http/counters'
import type { Counter } from '@claimcheck/server/storage/counters'
import type { Shared } from '@claimcheck/server/storage/storage'
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

t.test('what a shared database has not counted yet is seen by those who ask meanwhile, until it fails', async (t) => {
  interface Asked {
    readonly added: readonly Counter[]
    readonly answer: (counters: Counter[]) => void
    readonly fail: (error: Error) => void
  }
  const asked: Asked[] = []
  const add = (_start: number, added: readonly Counter[]) =>
    new Promise<Counter[]>((answer, fail) => void asked.push({ added, answer, fail }))
  const shared = { counters: { add, removeBefore: async () => 0 }, ...({} as Omit<Shared, 'counters'>) }
  const counters = createCounters({ storage: { shared }, now: () => NOW })
  const flushed = async (count: number) => {
    while (asked.length < count) await setImmediate()
    return asked[count - 1]!
  }
  const first = Promise.all([counters.add('key', 'a', 5), counters.add('key', 'a', 3), counters.add('key', 'b')])
  t.match([counters.last('key', 'a'), counters.last('key', 'b')], [{ count: 8 }, { count: 1 }])
  const { added, answer } = await flushed(1)
  const second = counters.add('key', 'a', 2)
  t.match(counters.last('key', 'a'), { count: 10 })
  answer(added.map((counter) => ({ ...counter, count: counter.count + 100 })))
  t.match(await first, [{ count: 105 }, { count: 108 }, { count: 101 }])
  t.match(counters.last('key', 'a'), { count: 110 }, 'with what other hosts counted')
  const { fail } = await flushed(2)
  fail(new Error('no database'))
  await t.rejects(second, { message: 'no database' })
  t.match(counters.last('key', 'a'), { count: 108 })
})
