/** Whose request goes next. Threat A8 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import { createQueue } from '@claimcheck/server/http/queue'
import t from 'tap'

// The timers of the queue keep no process alive.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

/** One request of 10 tokens takes 10 ms, and two are served at once. */
const RATE = { tokensPerMs: 1, atOnceMs: 11 }
/** The same, ten times slower. */
const SLOW = { tokensPerMs: 0.1, atOnceMs: 110 }

/** Enters requests in this order. Returns the order in which they went, all of them. */
async function orderOf(payers: readonly string[]): Promise<string[]> {
  const queue = createQueue(SLOW)
  const order: string[] = []
  await Promise.all(
    payers.map(async (payer) => {
      await queue.enter(payer, 10)
      order.push(payer)
    }),
  )
  return order
}

t.test('who used least goes first, and those that somebody invited count with them', async (t) => {
  const order = await orderOf(['a/b', 'a/b', 'a/b', 'a/b/d', 'a/b/e', 'a/c', 'a', 'a/c/f', 'x'])
  t.strictSame(order.slice(0, 3), ['a/b', 'a/b', 'x'], 'at once, and one that shares nothing with them')
  t.strictSame(order.slice(3), ['a/c', 'a', 'a/c/f', 'a/b/d', 'a/b/e', 'a/b'])
})

t.test('one that nobody shares with gets the whole rate, in order', async (t) => {
  const queue = createQueue(RATE)
  const begin = performance.now()
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      await queue.enter('a', 10)
      order.push(index)
    }),
  )
  t.strictSame(order, [...order.keys()])
  const ms = performance.now() - begin
  t.ok(ms > 90 && ms < 1000, `${ms} ms`)
})

t.test('how long one would wait is told by what goes before it', async (t) => {
  const queue = createQueue(RATE)
  t.equal(queue.expected('a/b'), 0)
  const waiting = Array.from({ length: 20 }, () => queue.enter('a/b', 10))
  const [own, second, neighbour] = ['a/b', 'a/b/two', 'a/c'].map((payer) => queue.expected(payer)) as [
    number,
    number,
    number,
  ]
  t.ok(own > 150, `${own}`)
  t.ok(neighbour < 30, `${neighbour}`)
  t.ok(second < own, 'of two accounts of one, the one that used less goes first')
  await Promise.all(waiting)
})

t.test('who has gone takes nothing, and what is given back is there at once', async (t) => {
  const queue = createQueue(RATE)
  for (let count = 0; count < 2; count++) queue.enter('a', 10)
  const gone = Array.from({ length: 100 }, () => queue.enter('a', 10, () => true))
  const begin = performance.now()
  await queue.enter('a', 10)
  t.ok(performance.now() - begin < 500)
  await Promise.all(gone)
  const other = createQueue(RATE)
  other.enter('b', 5000)
  const waiting = other.enter('b', 10)
  other.giveBack('b', 5000)
  t.equal(await Promise.race([waiting, setTimeout(500, 'late')]), undefined)
})
