/** Who pays, and what of one allowance each party gets. Threat A8 of `security.md`. */
import { aboveInvited, partyOf, payerOf } from '@claimcheck/server/base/payers'
import { holdingsOf, leftOf, mayAdd } from '@claimcheck/server/base/stock'
import t from 'tap'

t.test('who is invited stands below who invited them, eight levels deep at most', async (t) => {
  let account: { id: string; sharesWith: string | null } = { id: 'a0', sharesWith: null }
  for (let depth = 1; depth < 12; depth++) account = { id: `a${depth}`, sharesWith: aboveInvited(account) }
  t.equal(payerOf(account), 'a0/a1/a2/a3/a4/a5/a6/a7/a11')
  t.equal(partyOf(payerOf(account)), 'a0/a1')
  t.equal(partyOf('a0'), 'a0')
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
