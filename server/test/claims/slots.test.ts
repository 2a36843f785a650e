import { createSlots } from '@claimcheck/server/claims/slots'
import t from 'tap'

t.test('one lane has an eighth of the slots, and at least one', async (t) => {
  for (const [most, ofLane] of [
    [256, 32],
    [16, 2],
    [8, 1],
    [3, 1],
  ] as const) {
    const slots = createSlots(most)
    t.equal(slots.freeFor('a'), ofLane)
    for (let taken = 0; taken < ofLane; taken++) t.ok(await slots.take('a', 0))
    t.equal(slots.freeFor('a'), 0)
    t.strictSame(slots.busyLanes(), ['a'])
    t.equal(await slots.take('a', 0), undefined, 'none in time')
    t.equal(slots.free(), most - ofLane)
    t.equal(slots.freeFor('b'), ofLane, 'other lanes have theirs')
  }
})

t.test('a slot that is given back goes to who has waited longest in that lane', async (t) => {
  const slots = createSlots(8)
  const release = (await slots.take('a', 0))!
  const order: number[] = []
  const waiting = [1, 2].map(async (number) => {
    const next = await slots.take('a', 10_000)
    order.push(number)
    next?.()
  })
  release()
  await Promise.all(waiting)
  t.strictSame(order, [1, 2])
  t.equal(slots.free(), 8)
})

t.test('when all slots were taken, one that is given back goes to whichever lane waits for it', async (t) => {
  const slots = createSlots(2)
  const release = (await slots.take('a', 0))!
  await slots.take('b', 0)
  const waiting = slots.take('c', 10_000)
  t.equal(slots.free(), 0)
  release()
  t.ok(await waiting)
  t.equal(slots.free(), 0)
})

t.test('who has waited too long takes no slot any more', async (t) => {
  const slots = createSlots(1)
  const release = (await slots.take('a', 0))!
  t.equal(await slots.take('a', 5), undefined)
  release()
  t.equal(slots.free(), 1)
})

t.test('of the candidates those are chosen that have a free slot, in order', async (t) => {
  const slots = createSlots(16)
  await slots.take('a', 0)
  const candidates = ['a', 'b', 'a', 'b', 'b'].map((lane, number) => ({ lane, number }))
  t.strictSame(
    slots.choose(candidates).map(({ number }) => number),
    [0, 1, 3],
  )
})
