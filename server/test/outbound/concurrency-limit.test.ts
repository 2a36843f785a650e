// Test run: every-node
/** Slots for checks, shared by payers, workspaces, keys and destinations. Threat A8 of `security.md`. */
import {
  type Asker,
  type ConcurrencyLimit,
  createConcurrencyLimit,
} from '@claimcheck/server/outbound/concurrency-limit'
import type { DueKind } from '@claimcheck/server/storage/claims'
import t from 'tap'

const asker = (workspaceId: string, destination?: string, submittedBy = 'key', payer = workspaceId): Asker => ({
  payer,
  workspaceId,
  submittedBy,
  destinations: destination === undefined ? [] : [destination],
})

/** Takes slots, one for each asker in turn, until none of them gets one. Returns how many each took. */
function fill(slots: ConcurrencyLimit, askers: readonly Asker[], kind: DueKind = 'looking'): number[] {
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

t.test('alone, a workspace takes nearly all that checks may take which only look', async (t) => {
  const slots = createConcurrencyLimit(256)
  const many = Array.from({ length: 40 }, (_, index) => asker('a', `place-${index}`, `key-${index % 4}`))
  t.equal(sum(fill(slots, many)), 118, 'about 3/4 of 160')
  t.strictSame(slots.usage(), { kept: 0, first: 0, common: 118, watching: 0 })
  t.type(
    slots.take(asker('b', 'place-0'), 'looking'),
    'function',
    'and leaves some to another, also at the same destination',
  )
})

t.test('with any number of connections, keys and destinations, workspaces leave slots to the next', async (t) => {
  for (const [workspaces, left] of [
    [1, 42],
    [3, 16],
    [9, 6],
  ] as const) {
    const slots = createConcurrencyLimit(256)
    const askers = Array.from({ length: workspaces * 36 }, (_, index) =>
      asker(`workspace ${index % workspaces}`, `place-${index}`, `key-${index % 4}`),
    )
    const taken = sum(fill(slots, askers))
    t.equal(taken, 160 - left, `${workspaces} workspaces`)
    t.type(slots.take(asker('victim', 'elsewhere'), 'looking'), 'function')
  }
})

t.test('a destination takes half, whichever workspaces ask, and one workspace less', async (t) => {
  const slots = createConcurrencyLimit(256)
  t.equal(sum(fill(slots, [asker('a', 'github')])), 69)
  t.type(
    slots.take(asker('b', 'github'), 'looking'),
    'function',
    'another workspace has its part of the same destination',
  )
  const shared = createConcurrencyLimit(256)
  const everybody = Array.from({ length: 50 }, (_, index) => asker(`workspace ${index}`, 'github'))
  t.equal(sum(fill(shared, everybody)), 80)
  t.type(shared.take(asker('c', 'elsewhere'), 'looking'), 'function')
})

t.test('one key does not take all that its workspace may', async (t) => {
  const slots = createConcurrencyLimit(256)
  const oneKey = Array.from({ length: 40 }, (_, index) => asker('a', `place-${index}`, 'greedy'))
  t.equal(sum(fill(slots, oneKey)), 111)
  t.type(slots.take(asker('a', 'place-x', 'honest'), 'looking'), 'function')
})

t.test('checks that decide have a quarter to themselves, which is shared in the same way', async (t) => {
  const slots = createConcurrencyLimit(256)
  const flood = Array.from({ length: 36 }, (_, index) => asker('a', `place-${index}`, `key-${index % 4}`))
  fill(slots, flood)
  t.match(slots.take(asker('a', 'place-x', 'key-0'), 'looking'), /workspace|key/)
  t.ok(sum(fill(slots, flood, 'deciding')) >= 48, 'they go on in the part that is kept')
  t.ok(sum(fill(slots, flood, 'first')) >= 24, 'and first looks in a part that neither of the two takes')
  for (const kind of ['deciding', 'first', 'looking'] as const) t.notOk(slots.usedUp(asker('b', 'elsewhere'), kind))
})

t.test('a slot that is freed can be taken again, and whoever listens is told', async (t) => {
  const slots = createConcurrencyLimit(1)
  let freed = 0
  slots.onFree(() => freed++)
  const release = slots.take(asker('a', 'place'), 'looking') as () => void
  t.equal(slots.take(asker('b', 'elsewhere'), 'deciding'), 'workspace', 'nothing is left for anybody')
  t.ok(slots.usedUp(asker('b', 'elsewhere'), 'deciding'))
  release()
  t.equal(freed, 1)
  t.type(slots.take(asker('b', 'elsewhere'), 'deciding'), 'function', 'one slot is for all checks')
})

t.test('a check that reads nothing has no destination to share', async (t) => {
  const slots = createConcurrencyLimit(64)
  t.equal(sum(fill(slots, [asker('a', undefined, 'one'), asker('a', undefined, 'two')])), 29)
})

t.test('a name that lists the address of another beside its own counts as both', async (t) => {
  const slots = createConcurrencyLimit(256)
  const one = (index: number): Asker => ({
    payer: 'a',
    workspaceId: 'a',
    submittedBy: `key-${index % 4}`,
    destinations: [`decoy-${index}`, 'real'],
  })
  t.equal(
    sum(
      fill(
        slots,
        Array.from({ length: 50 }, (_, index) => one(index)),
      ),
    ),
    69,
    'as many as at one destination',
  )
})

t.test('whose part is used up is told, the largest first', async (t) => {
  const slots = createConcurrencyLimit(256)
  fill(slots, [asker('a', 'github')])
  t.equal(slots.usedUp(asker('a', 'github'), 'looking'), 'destination')
  fill(
    slots,
    Array.from({ length: 40 }, (_, index) => asker('a', `place-${index}`)),
  )
  t.equal(slots.usedUp(asker('a', 'place-x'), 'looking'), 'key')
  fill(
    slots,
    Array.from({ length: 400 }, (_, index) => asker('a', `place-${index}`, `key-${index}`)),
  )
  t.equal(slots.usedUp(asker('a', 'place-x', 'key-x'), 'looking'), 'workspace')
})

t.test('25 workspaces and 60 keys of one account take no more than it may, and others have their part', async (t) => {
  const taken = (workspaces: number, keys: number) => {
    const slots = createConcurrencyLimit(256)
    const hostile = Array.from({ length: 300 }, (_, index) =>
      asker(`ws ${index % workspaces}`, `place-${index}`, `key-${index % keys}`, 'hostile'),
    )
    const all = (['looking', 'first', 'deciding'] as const).map((kind) => sum(fill(slots, hostile, kind)))
    for (const kind of ['deciding', 'first', 'looking'] as const)
      t.notOk(slots.usedUp(asker('b', 'elsewhere'), kind), kind)
    t.equal(slots.usedUp(asker('ws new', 'place-x', 'key-new', 'hostile'), 'looking'), 'payer')
    return sum(all)
  }
  t.equal(taken(25, 60), 192)
  const slots = createConcurrencyLimit(256)
  const destination = Array.from({ length: 25 }, (_, index) => asker(`ws ${index}`, 'github', 'key', 'hostile'))
  t.equal(sum(fill(slots, destination)), 69, 'as one workspace at one destination')
  t.type(slots.take(asker('b', 'github'), 'looking'), 'function')
})

t.test('within an account one workspace leaves slots to another', async (t) => {
  const slots = createConcurrencyLimit(256)
  const greedy = Array.from({ length: 36 }, (_, index) => asker('a', `place-${index}`, `key-${index % 4}`, 'account'))
  t.equal(sum(fill(slots, greedy)), 111)
  t.equal(slots.usedUp(asker('a', 'place-x', 'key-x', 'account'), 'looking'), 'workspace')
  t.type(slots.take(asker('b', 'place-x', 'key', 'account'), 'looking'), 'function')
})
