import { createRecentSet } from '@claimcheck/server/base/recent-set'
import t from 'tap'

const steps: readonly (readonly [added: string, known: string])[] = [
  ['', ''],
  ['abc', 'abc'],
  ['de', 'abcde'],
  ['f', 'def'],
  ['dd', 'def'],
  ['gh', 'dgh'],
  ['i', 'dghi'],
]

t.test('the last three values are known, and less than six', async (t) => {
  const recent = createRecentSet(3)
  for (const [added, known] of steps) {
    for (const value of added) recent.add(value)
    t.equal([...'abcdefghi'].filter(recent.has).join(''), known, added)
  }
})
