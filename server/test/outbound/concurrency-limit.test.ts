// Test run: every-node
/** Slots for checks, shared by payers and destinations. Threat A8 of `security.md`. */
import {
  type Asker,
  type ConcurrencyLimit,
  createConcurrencyLimit,
} from '@claimcheck/server/outbound/concurrency-limit'
import type { CheckKind } from '@claimcheck/server/storage/claims'
import t from 'tap'

const asker = (payer: string, destination?: string): Asker => ({
  payer,
  destinations: destination === undefined ? [] : [destination],
})

/** Takes slots, one for each asker in turn, until none of them gets one. Returns how many each took. */
function fill(slots: ConcurrencyLimit, askers: readonly Asker[], kind: CheckKind = 'looking'): number[] {
  const taken = askers.map(() => 0)
  for (let tookOne = true; tookOne; ) {
    tookOne = false
    for (const [index, one] of askers.entries()) {
      if (typeof slots.take(one, kind) === 'string') continue
      taken[index]!++
      tookOne = true
    }
  }
  return taken
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

t.test('alone, one who pays takes nearly all that checks may take which only look', async (t) => {
  const slots = createConcurrencyLimit(256)
  const many = Array.from({ length: 40 }, (_, index) => asker('a', `place-${index}`))
  t.equal(sum(fill(slots, many)), 120, '3/4 of 160')
  t.strictSame(slots.usage(), { kept: 0, first: 0, common: 120, watching: 0, hinted: 0 })
  t.type(
    slots.take(asker('b', 'place-0'), 'looking'),
    'function',
    'and leaves some to another, also at the same destination',
  )
})

t.test('with any number of destinations, those who pay leave slots to the next', async (t) => {
  for (const [payers, left] of [
    [1, 40],
    [3, 16],
    [9, 5],
  ] as const) {
    const slots = createConcurrencyLimit(256)
    const askers = Array.from({ length: payers * 36 }, (_, index) => asker(`payer ${index % payers}`, `place-${index}`))
    const taken = sum(fill(slots, askers))
    t.equal(taken, 160 - left, `${payers} payers`)
    t.type(slots.take(asker('victim', 'elsewhere'), 'looking'), 'function')
  }
})

t.test('a destination takes half, whoever asks, and one who pays less', async (t) => {
  const slots = createConcurrencyLimit(256)
  t.equal(sum(fill(slots, [asker('a', 'github')])), 69)
  t.type(slots.take(asker('b', 'github'), 'looking'), 'function', 'another one has its part of the same destination')
  const shared = createConcurrencyLimit(256)
  const everybody = Array.from({ length: 50 }, (_, index) => asker(`payer ${index}`, 'github'))
  t.equal(sum(fill(shared, everybody)), 80)
  t.type(shared.take(asker('c', 'elsewhere'), 'looking'), 'function')
})

t.test('checks that decide have a quarter to themselves, which is shared in the same way', async (t) => {
  const slots = createConcurrencyLimit(256)
  const flood = Array.from({ length: 36 }, (_, index) => asker('a', `place-${index}`))
  fill(slots, flood)
  t.equal(slots.take(asker('a', 'place-x'), 'looking'), 'payer')
  t.equal(sum(fill(slots, flood, 'deciding')), 48, 'they go on in the part that is kept')
  t.equal(sum(fill(slots, flood, 'first')), 24, 'and first looks in a part that neither of the two takes')
  for (const kind of ['deciding', 'first', 'looking'] as const) t.notOk(slots.usedUp(asker('b', 'elsewhere'), kind))
})

t.test('a slot that is freed can be taken again, and whoever listens is told', async (t) => {
  const slots = createConcurrencyLimit(1)
  let freed = 0
  slots.onFree(() => freed++)
  const release = slots.take(asker('a', 'place'), 'looking') as () => void
  t.equal(slots.take(asker('b', 'elsewhere'), 'deciding'), 'payer', 'nothing is left for anybody')
  t.ok(slots.usedUp(asker('b', 'elsewhere'), 'deciding'))
  release()
  t.equal(freed, 1)
  t.type(slots.take(asker('b', 'elsewhere'), 'deciding'), 'function', 'one slot is for all checks')
})

t.test('never more checks run than there are slots and a sixteenth as many for watched claims', async (t) => {
  for (const [capacity, most] of [
    [1, 1],
    [2, 2],
    [15, 15],
    [16, 17],
    [256, 272],
  ] as const) {
    const slots = createConcurrencyLimit(capacity)
    const kinds = ['watching', 'looking', 'first', 'deciding'] as const
    const everybody = Array.from({ length: 600 }, (_, index) => asker(`payer ${index}`))
    t.ok(sum(kinds.map((kind) => sum(fill(slots, everybody, kind)))) <= most, `${capacity}`)
    t.ok(sum(Object.values(slots.usage())) > 0)
    const alone = createConcurrencyLimit(capacity)
    for (const kind of kinds) {
      const release = alone.take(asker('a/b', 'place'), kind)
      t.type(release, 'function', `${kind}, alone`)
      ;(release as () => void)()
    }
  }
})

t.test('a check that reads nothing has no destination to share', async (t) => {
  t.equal(sum(fill(createConcurrencyLimit(64), [asker('a')])), 30)
})

t.test('a name that lists the address of another beside its own counts as both', async (t) => {
  const many = Array.from({ length: 50 }, (_, index) => ({ payer: 'a', destinations: [`decoy-${index}`, 'real'] }))
  t.equal(sum(fill(createConcurrencyLimit(256), many)), 69, 'as many as at one destination')
})

t.test('whose part is used up is told, the largest first', async (t) => {
  const slots = createConcurrencyLimit(256)
  fill(slots, [asker('a', 'github')])
  t.equal(slots.usedUp(asker('a', 'github'), 'looking'), 'destination')
  fill(
    slots,
    Array.from({ length: 40 }, (_, index) => asker('a', `place-${index}`)),
  )
  t.equal(slots.usedUp(asker('a', 'place-x'), 'looking'), 'payer')
})

t.test('invited accounts take no more than their allowance may, and others have their part', async (t) => {
  const invited = Array.from({ length: 300 }, (_, index) => asker(`hostile/${index % 25}`, `place-${index}`))
  const slots = createConcurrencyLimit(256)
  const all = (['looking', 'first', 'deciding'] as const).map((kind) => sum(fill(slots, invited, kind)))
  t.ok(sum(all) <= 192, `${all}`)
  for (const kind of ['deciding', 'first', 'looking'] as const)
    t.notOk(slots.usedUp(asker('b', 'elsewhere'), kind), kind)
  const there = createConcurrencyLimit(256)
  const destination = Array.from({ length: 25 }, (_, index) => asker(`hostile/${index}`, 'github'))
  t.ok(sum(fill(there, destination)) <= 69, 'no more than one account at one destination')
  t.type(there.take(asker('b', 'github'), 'looking'), 'function')
})

t.test('a slot costs next to nothing where nothing is scarce', async (t) => {
  const slots = createConcurrencyLimit(256)
  const one = asker('usr_00000000000000000000000000/usr_11111111111111111111111111', '192.0.2.1')
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 20; round++) {
    const begin = performance.now()
    for (let count = 0; count < 10_000; count++) (slots.take(one, 'first') as () => void)()
    least = Math.min(least, (performance.now() - begin) / 10)
  }
  t.ok(least < 5, `${least} µs`)
})
