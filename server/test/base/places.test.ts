/** Who may take a place of those that are held for a time, and who comes first. Threat A8 of `security.md`. */
import { Places } from '@claimcheck/server/base/places'
import t from 'tap'

/** Each in turn takes all that it may. Returns how many each has. */
function inTurn(capacity: number, payers: readonly string[], weight = 3): number[] {
  const places = new Places()
  return payers.map((payer) => {
    let taken = 0
    for (; places.mayTake(payer, capacity - places.all, weight); taken++) places.add(payer, 1)
    return taken
  })
}

t.test(
  'alone, an account takes three quarters, and leaves some to the next, and that one to the one after',
  async (t) => {
    t.strictSame(inTurn(256, ['a', 'b', 'c']), [192, 48, 12])
    t.strictSame(inTurn(1, ['a', 'b']), [1, 0], 'one place is for one')
    t.strictSame(inTurn(1, ['a/b', 'a']), [1, 0])
    t.strictSame(inTurn(0, ['a', 'a/b']), [0, 0])
  },
)

t.test('all whom an account invited take no more than it may, and two accounts of one member are as one', async (t) => {
  const many = Array.from({ length: 40 }, (_, index) => `a/${index}`)
  t.equal(
    inTurn(256, ['a', ...many]).reduce((sum, count) => sum + count),
    192,
  )
  t.strictSame(inTurn(256, ['a/b', 'a/b/d', 'a/b/d/e']), [154, 0, 0])
  const [bob, , cyn, ann, other] = inTurn(256, ['a/b', 'a/b/d', 'a/c', 'a', 'x']) as [number, ...number[]]
  t.ok(cyn! > 0 && ann! > 0 && other! > 0, 'and everybody else has some')
  t.ok(bob + cyn! + ann! <= 192)
})

t.test('who invited several leaves some to each of them, at any depth', async (t) => {
  const [eve, , dan, bob] = inTurn(256, ['a/b/e', 'a/b/e/two', 'a/b/d', 'a/b']) as [number, ...number[]]
  t.ok(dan! > 0 && bob! > 0)
  t.ok(eve + dan! + bob! <= 154, 'and all of them are as one')
})

t.test('whoever gives back may take again', async (t) => {
  const places = new Places()
  places.add('a/b', 3)
  t.notOk(places.mayTake('a/b', 1, 3))
  t.ok(places.mayTake('x', 1, 3))
  places.add('a/b', -3)
  t.equal(places.all, 0)
  t.ok(places.mayTake('a/b', 1, 3))
})

t.test('whoever holds less comes first, by allowance and then within it', async (t) => {
  const places = new Places()
  for (const payer of ['a', 'a/b', 'a/b/d', 'x', 'x']) places.add(payer, 1)
  const order = ['a/b/d', 'a', 'a/b/e', 'a/c', 'x', 'y'].toSorted((one, other) => places.compare(one, other))
  t.strictSame(order, ['y', 'x', 'a/c', 'a', 'a/b/e', 'a/b/d'])
})
