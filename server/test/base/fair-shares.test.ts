/** Who pays, and what of one allowance each party gets. Threat A8 of `security.md`. */
import { holdingsOf, leftOf, mayAdd, Shares } from '@claimcheck/server/base/fair-shares'
import { aboveInvited, partyOf, payerOf, takersOf } from '@claimcheck/server/base/payers'
import t from 'tap'

t.test('who is invited stands below who invited them, eight levels deep at most', async (t) => {
  let account: { id: string; sharesWith: string | null } = { id: 'a0', sharesWith: null }
  for (let depth = 1; depth < 12; depth++) account = { id: `a${depth}`, sharesWith: aboveInvited(account) }
  t.equal(payerOf(account), 'a0/a1/a2/a3/a4/a5/a6/a7/a11')
  t.equal(partyOf(payerOf(account)), 'a0/a1')
  t.equal(partyOf('a0'), 'a0')
})

t.test('takers are counted from the top down', async (t) => {
  const names = (payer: string, workspaceId?: string) =>
    takersOf(payer, workspaceId).map(({ level, name }) => [level, name])
  t.strictSame(names('ws', 'ws'), [['workspace', 'ws']])
  t.strictSame(names('a', 'ws'), [
    ['payer', 'a'],
    ['workspace', 'ws'],
  ])
  t.strictSame(names('a/b/c'), [
    ['payer', 'a'],
    ['invited', 'a/'],
    ['party', 'a/b'],
    ['guest', 'a/b/c'],
  ])
  t.strictSame(takersOf('a', 'ws', 'k').at(-1), { level: 'key', name: 'ws k' })
})

t.test('each takes of what the one before leaves', async (t) => {
  const takers = takersOf('b', 'ws')
  const shares = new Shares()
  shares.add(takersOf('b'), 3)
  shares.add(takers.slice(1), 2)
  t.equal(shares.fullTaker(takers, 1, 3)?.name, 'b')
  t.equal(shares.fullTaker(takers, 2, 2)?.name, 'ws')
  t.equal(shares.fullTaker(takers, 2, 3), undefined)
  shares.add(takersOf('b'), -3)
  t.equal(shares.fullTaker(takers, 1, 3), undefined, 'what was given back is free')
})

const ROWS: readonly [what: string, payer: string, held: [string, number][], total: number, mayAdd: boolean][] = [
  ['alone, all', 'a', [['a', 9]], 10, true],
  ['and no more', 'a', [['a', 10]], 10, false],
  [
    'while there is room, all of it',
    'a/b',
    [
      ['a/b', 8],
      ['a/c', 1],
    ],
    10,
    true,
  ],
  [
    'two accounts of one member are as one',
    'a/b/d',
    [
      ['a/b', 10],
      ['a/c', 1],
    ],
    10,
    false,
  ],
  ['at any depth', 'a/b/d/e/f', [['a/b/g', 10]], 10, false],
  [
    'a neighbour has its equal part when all is taken',
    'a/c',
    [
      ['a/b', 10],
      ['a/c', 4],
    ],
    10,
    true,
  ],
  [
    'and no more than that',
    'a/c',
    [
      ['a/b', 10],
      ['a/c', 5],
    ],
    10,
    false,
  ],
  [
    'as has who pays',
    'a',
    [
      ['a/b', 10],
      ['a', 4],
    ],
    10,
    true,
  ],
  [
    'who has nothing gets one in any case',
    'a/c',
    [
      ['a/b', 1],
      ['a/d', 1],
    ],
    2,
    true,
  ],
  [
    'and one alone',
    'a/c',
    [
      ['a/b', 1],
      ['a/d', 1],
      ['a/c', 1],
    ],
    2,
    false,
  ],
]
for (const [what, payer, held, total, expected] of ROWS)
  t.test(what, async (t) => t.equal(mayAdd(holdingsOf(payer, held), total), expected))

t.test('what is left counts in the unit of the limit', async (t) => {
  const holdings = holdingsOf('a/c', [
    ['a/b', 100],
    ['a/c', 20],
  ])
  t.equal(leftOf(holdings, 100), 30)
  t.ok(mayAdd(holdings, 100, 30))
  t.notOk(mayAdd(holdings, 100, 31))
})
