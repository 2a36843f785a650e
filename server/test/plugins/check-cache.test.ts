import { syncBuiltinESMExports } from 'node:module'
import { mock } from 'node:test'
import { mergeReadings, NO_READINGS, type Readings } from '@claimcheck/core/hosting'
import { cacheFor, createCheckCache } from '@claimcheck/server/plugins/check-cache'
import { createOpaqueNames } from '@claimcheck/server/plugins/opaque-names'
import t, { type Test } from 'tap'

/** The readings of one check. */
function readable({ isSpent = false } = {}) {
  let readings = NO_READINGS
  return {
    isSpent: () => isSpent,
    readings: () => readings,
    inherit(others: Readings) {
      readings = mergeReadings(readings, others)
    },
  }
}

function gate() {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Until the test ends, timers wait for `pass`. */
function stopTime(t: Test): { readonly pass: (ms: number) => Promise<void> } {
  mock.timers.enable({ apis: ['setTimeout'] })
  syncBuiltinESMExports()
  t.teardown(() => {
    mock.timers.reset()
    syncBuiltinESMExports()
  })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    async pass(ms) {
      await settled()
      mock.timers.tick(ms)
      await settled()
    },
  }
}

const { cacheKey } = createOpaqueNames()

t.test('a caller never joins a read that has begun, and shares the next one with all who wait', async (t) => {
  const cache = createCheckCache()
  const gates = [gate(), gate()]
  let reads = 0
  const read = async () => {
    const number = reads++
    await gates[number]!.opened
    return number
  }
  const first = cache.share('a', read)
  const second = cache.share('a', read)
  const third = cache.share('a', read)
  t.equal(reads, 1)
  gates[0]!.open()
  t.equal(await first, 0)
  // It has not begun: those who come a moment later join it, too.
  const fourth = cache.share('a', read)
  gates[1]!.open()
  t.strictSame(await Promise.all([second, third, fourth]), [1, 1, 1])
  t.equal(reads, 2)
})

t.test('a read that fails fails for those who shared it, and the next is made anew', async (t) => {
  const cache = createCheckCache()
  let reads = 0
  const read = async () => {
    if (reads++ === 0) throw new Error('unreadable')
    return 'read'
  }
  const first = cache.share('a', read)
  const second = cache.share('a', read)
  await t.rejects(first, { message: 'unreadable' })
  t.equal(await second, 'read')
  t.equal(await cache.share('a', read), 'read')
})

t.test('reads of different things do not wait for each other', async (t) => {
  const cache = createCheckCache()
  const never = cache.share('a', () => new Promise(() => {}))
  t.equal(await cache.share('b', async () => 'b'), 'b')
  t.ok(never)
})

t.test('it remembers, within bounds', async (t) => {
  const cache = createCheckCache()
  cache.set('first', undefined)
  cache.set('second', { some: 'thing' })
  t.strictSame(cache.get('second'), { some: 'thing' })
  t.equal(cache.get('third'), undefined)
  for (let i = 0; i < 6000; i++) cache.set(`filler ${i}`, i)
  t.equal(cache.get('second'), undefined)
})

t.test('of those who wait for a read the last one makes it: its check has the most time left', async (t) => {
  const cache = createCheckCache()
  const { open, opened } = gate()
  const first = cache.share('a', () => opened)
  const waiting = ['second', 'third', 'fourth'].map((name) => cache.share('a', async () => name))
  open()
  await first
  t.strictSame(await Promise.all(waiting), ['fourth', 'fourth', 'fourth'])
})

t.test('who asks when a read has just ended joins none that had begun', async (t) => {
  const cache = createCheckCache()
  let reads = 0
  const read = async () => ++reads
  const seen: number[] = []
  const ask = async (depth: number): Promise<void> => {
    const before = reads
    const number = await cache.share('a', read)
    t.ok(number > before, 'begun after it was asked for')
    seen.push(number)
    if (depth > 0) await Promise.all([ask(depth - 1), ask(depth - 1)])
  }
  await ask(6)
  t.equal(seen.length, 127)
})

t.test('a read that throws before it begins leaves the next one possible', async (t) => {
  const cache = createCheckCache()
  const fail = () => {
    throw new Error('no read')
  }
  const asked = [cache.share('a', fail), cache.share('a', fail), cache.share('a', fail)]
  t.strictSame(
    (await Promise.allSettled(asked)).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  t.equal(await cache.share('a', async () => 'read'), 'read')
})

t.test('after a read for several, those who come together share one read, the first of them too', async (t) => {
  const { pass } = stopTime(t)
  const cache = createCheckCache()
  let reads = 0
  const read = async () => ++reads
  const together = Promise.all([cache.share('a', read), cache.share('a', read), cache.share('a', read)])
  await pass(1500)
  await together
  t.equal(reads, 2, 'the first had begun')
  const again = Promise.all([cache.share('a', read), cache.share('a', read)])
  await pass(1500)
  t.strictSame(await again, [3, 3])
  await pass(5100)
  t.equal(await cache.share('a', read), 4, 'a caller who comes alone after that does not wait: no time passes')
})

t.test('what was read through a connection is known there alone, and while it has the same credentials', async (t) => {
  const cache = createCheckCache()
  const part = (id: string, token: string) =>
    cacheFor(cacheKey({ id, provider: 'mailbox', options: { token } }), cache, readable())
  const own = part('conn_1', 'old')
  own.set('seen', 1)
  const others = [part('conn_2', 'old'), part('conn_1', 'new'), cacheFor(cacheKey(null), cache, readable())]
  t.equal(part('conn_1', 'old').get('seen'), 1)
  for (const other of others) t.equal(other.get('seen'), undefined)

  const held = gate()
  const first = own.share('read', () => held.opened)
  const elsewhere = await Promise.all(others.map((other, index) => other.share('read', async () => index)))
  t.strictSame(elsewhere, [0, 1, 2], 'nobody waits for a read with other credentials')
  held.open()
  await first
})

t.test('checks that share a read inherit when it was sent, and what it told of clocks and ages', async (t) => {
  const cache = createCheckCache()
  const checks = [readable(), readable(), readable()]
  const caches = checks.map((check) => cacheFor(cacheKey(null), cache, check))
  const held = gate()
  const read = (check: ReturnType<typeof readable>, at: number) => async () => {
    await held.opened
    check.inherit({
      sentAt: at,
      ahead: { least: at, most: at + 999 },
      isUndated: at === 2,
      ageMs: at * 1000,
      tokens: [],
    })
    return at
  }
  const [first, ...others] = caches.map((each, index) => each.share('read', read(checks[index]!, index)))
  held.open()
  t.equal(await first, 0)
  t.strictSame(await Promise.all(others), [2, 2], 'the others share the read of the last')
  t.match(checks[0]!.readings(), { sentAt: 0, isUndated: false, ageMs: 0 })
  for (const check of checks.slice(1)) {
    const ahead = { least: 2, most: 1001 }
    t.strictSame(check.readings(), { sentAt: 2, ahead, isUndated: true, ageMs: 2000, tokens: [] })
  }
})

t.test('a shared read that fails fails for each, and tells nothing of clocks', async (t) => {
  const cache = createCheckCache()
  const checks = [readable(), readable()]
  const fails = async () => Promise.reject(new TypeError('a mistake'))
  const both = checks.map((check) => cacheFor(cacheKey(null), cache, check).share('read', fails))
  for (const one of both) await t.rejects(one, TypeError)
  for (const check of checks) t.same(check.readings(), NO_READINGS)
})

t.test('a check that its own limit ends, while it reads for others, ends nobody else', async (t) => {
  const cache = createCheckCache()
  const held = gate()
  const ended = new TypeError('its time is over')
  // The second and the third wait for the first; the third, which reads for both, is the one whose time is over.
  const first = cacheFor(cacheKey(null), cache, readable()).share('read', () => held.opened)
  const second = cacheFor(cacheKey(null), cache, readable()).share('read', async () => 'read')
  const third = cacheFor(cacheKey(null), cache, readable({ isSpent: true })).share('read', async () =>
    Promise.reject(ended),
  )
  held.open()
  await first
  await t.rejects(third, ended)
  t.equal(await second, 'read')
})

t.test('a check whose own time is over does not begin to read for itself', async (t) => {
  const cache = createCheckCache()
  const held = gate()
  let reads = 0
  const first = cacheFor(cacheKey(null), cache, readable()).share('read', () => held.opened)
  const late = cacheFor(cacheKey(null), cache, readable({ isSpent: true })).share('read', async () => ++reads)
  const last = cacheFor(cacheKey(null), cache, readable({ isSpent: true })).share('read', async () =>
    Promise.reject(new RangeError()),
  )
  held.open()
  await first
  await t.rejects(last, RangeError)
  await t.rejects(late, RangeError)
  t.equal(reads, 0)
})
