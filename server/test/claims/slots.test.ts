import { createPlaces } from '@claimcheck/server/claims/slots'
import t from 'tap'

t.test('one lane has an eighth of the places, and at least one', async (t) => {
  for (const [most, ofLane] of [
    [256, 32],
    [16, 2],
    [8, 1],
    [3, 1],
  ] as const) {
    const places = createPlaces(most)
    t.equal(places.room('a'), ofLane)
    for (let taken = 0; taken < ofLane; taken++) t.ok(await places.take('a', 0))
    t.equal(places.room('a'), 0)
    t.strictSame(places.busy(), ['a'])
    t.equal(await places.take('a', 0), undefined, 'none in time')
    t.equal(places.free(), most - ofLane)
    t.equal(places.room('b'), ofLane, 'other lanes have theirs')
  }
})

t.test('a place that is given back goes to who has waited longest in that lane', async (t) => {
  const places = createPlaces(8)
  const release = (await places.take('a', 0))!
  const order: number[] = []
  const waiting = [1, 2].map(async (number) => {
    const next = await places.take('a', 10_000)
    order.push(number)
    next?.()
  })
  release()
  await Promise.all(waiting)
  t.strictSame(order, [1, 2])
  t.equal(places.free(), 8)
})

t.test('when all places were taken, one that is given back goes to whichever lane waits for it', async (t) => {
  const places = createPlaces(2)
  const release = (await places.take('a', 0))!
  await places.take('b', 0)
  const waiting = places.take('c', 10_000)
  t.equal(places.free(), 0)
  release()
  t.ok(await waiting)
  t.equal(places.free(), 0)
})

t.test('who has waited too long takes no place any more', async (t) => {
  const places = createPlaces(1)
  const release = (await places.take('a', 0))!
  t.equal(await places.take('a', 5), undefined)
  release()
  t.equal(places.free(), 1)
})
