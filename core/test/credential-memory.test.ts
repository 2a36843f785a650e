import { createCredentialMemories } from '@claimcheck/core/hosting'
import t from 'tap'

t.test('memories share their room, and what was used longest ago is forgotten first', async (t) => {
  const memoryOf = createCredentialMemories(() => 0, 1000)
  const [one, other] = [memoryOf('one'), memoryOf('other')]
  one.set('a', 'x'.repeat(300), 1)
  one.set('b', 'y'.repeat(300), 1)
  t.equal(one.get('a'), 'x'.repeat(300))
  other.set('a', 'z'.repeat(500), 1)
  t.equal(one.get('b'), undefined)
  t.equal(one.get('a'), 'x'.repeat(300))
  t.equal(other.get('a'), 'z'.repeat(500))
  other.set('a', 'z', 1)
  one.set('b', 'y'.repeat(600), 1)
  t.equal(one.get('a'), 'x'.repeat(300), 'what was replaced takes no room')
  one.set('c', 'w'.repeat(2000), 1)
  t.strictSame([one.get('a'), one.get('b'), one.get('c'), other.get('a')], [undefined, undefined, undefined, undefined])
})

t.test('an entry ends, and work for one key is done once at a time in each memory', async (t) => {
  let now = 0
  const memoryOf = createCredentialMemories(() => now)
  memoryOf('one').set('a', 'x', 10)
  t.equal(memoryOf('one').get('a'), 'x')
  now = 10
  t.equal(memoryOf('one').get('a'), undefined)
  let runs = 0
  const work = async () => ++runs
  const results = await Promise.all(['one', 'one', 'other'].map((name) => memoryOf(name).once('a', work)))
  t.strictSame(results, [1, 1, 2])
  t.equal(await memoryOf('one').once('a', work), 3)
})
