import { Type } from '@claimcheck/core/plugin'
import { readObservation } from '@claimcheck/server/features/claims/observation'
import { leakFinder } from '@claimcheck/server/outbound/leaks'
import t from 'tap'
import { profile } from '../../support/profile.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const DAY_MS = 24 * 60 * 60_000

const ABSENT = { kind: 'absent', facts: {} } as const
const PRESENT = { kind: 'present', facts: {}, differs: [] } as const
const DIFFERS = { kind: 'present', facts: {}, differs: ['content'] } as const
const readIt = (returned: unknown) => readObservation(profile, returned, leakFinder([]))
const stay = { appeared: { notBefore: NOON, notAfter: NOON + 999 } }

t.test('stays, marks and ages are recorded as they are told', async (t) => {
  const stays = [
    stay,
    { appeared: { notAfter: NOON }, removed: { notBefore: NOON + 1, notAfter: NOON + 2 }, removedWhole: true },
    { appeared: { notAfter: 0 }, removed: { notAfter: 0 }, removedWhole: false },
  ]
  for (const told of [
    { ...PRESENT, stays, ageMs: 10_000 },
    { ...PRESENT, stays: [] },
    { ...ABSENT, stays, mark: 'never_before' },
    { ...ABSENT, mark: 'may_have_been', ageMs: 0 },
    { ...DIFFERS, mark: 'final', ageMs: DAY_MS },
  ]) {
    t.strictSame(readIt(told).observation, told)
  }
})

t.test('a stay keeps the members of the contract alone, and no later change', async (t) => {
  const told = { ...PRESENT, stays: [{ ...stay, who: 'ann', appeared: { ...stay.appeared, note: 'x' } }] }
  const { observation } = readIt(told)
  told.stays.length = 0
  t.strictSame(observation?.stays, [stay])
})

const refused: [name: string, told: object, problem: RegExp][] = [
  ['a mark that there is not', { ...ABSENT, mark: 'surely' }, /mark/],
  ['a mark that is no text', { ...ABSENT, mark: ['final'] }, /mark/],
  ['no mark, and says so', { ...ABSENT, mark: null }, /mark/],
  ['a mark with what is there as claimed', { ...PRESENT, mark: 'never_before' }, /mark/],
  [
    'a mark with what is there, and no list of differences',
    { ...PRESENT, differs: undefined, mark: 'final' },
    /differs/,
  ],
  ['a difference again and again', { ...DIFFERS, differs: new Array(20_000).fill('content') }, /differs .* twice/],
  ['stays that are no list', { ...PRESENT, stays: { length: 0 } }, /stays/],
  ['no stays, and says so', { ...PRESENT, stays: null }, /stays/],
  ['more stays than are kept', { ...PRESENT, stays: Array.from({ length: 9 }, () => stay) }, /stays/],
  ['a stay without a time', { ...PRESENT, stays: [{}] }, /appeared/],
  ['a stay of text', { ...PRESENT, stays: ['yesterday'] }, /appeared/],
  ['a stay in words', { ...PRESENT, stays: [{ appeared: { notAfter: '2026' } }] }, /appeared/],
  ['a stay before 1970', { ...PRESENT, stays: [{ appeared: { notAfter: -1 } }] }, /appeared/],
  ['a stay at no time', { ...PRESENT, stays: [{ appeared: { notAfter: Number.NaN } }] }, /appeared/],
  [
    'a stay since no time',
    { ...PRESENT, stays: [{ appeared: { notBefore: Number.NaN, notAfter: NOON } }] },
    /appeared/,
  ],
  [
    'a stay at the end of time',
    { ...PRESENT, stays: [{ appeared: { notAfter: Number.POSITIVE_INFINITY } }] },
    /appeared/,
  ],
  [
    'a stay whose first time is after its last',
    { ...PRESENT, stays: [{ appeared: { notBefore: 2, notAfter: 1 } }] },
    /appeared/,
  ],
  ['a removal without a time', { ...PRESENT, stays: [{ ...stay, removed: {} }] }, /removed/],
  ['a removal that is none', { ...PRESENT, stays: [{ ...stay, removed: null }] }, /removed/],
  ['a removal that is whole in words', { ...PRESENT, stays: [{ ...stay, removedWhole: 'yes' }] }, /removedWhole/],
  ['an age before now', { ...ABSENT, ageMs: -1 }, /ageMs/],
  ['an age of more than a day', { ...ABSENT, ageMs: DAY_MS + 1 }, /ageMs/],
  ['an age in fractions', { ...ABSENT, ageMs: 0.5 }, /ageMs/],
  ['an age in words', { ...ABSENT, ageMs: '5' }, /ageMs/],
  ['an age without end', { ...ABSENT, ageMs: Number.POSITIVE_INFINITY }, /ageMs/],
]
for (const [name, told, problem] of refused) {
  t.test(`an observation is refused that tells ${name}`, async (t) => {
    t.match(readIt(told), { observation: undefined, problem })
  })
}

t.test('an observation is refused that throws when a stay is read', async (t) => {
  const told = {
    ...PRESENT,
    stays: [
      {
        get appeared() {
          throw new RangeError('no')
        },
      },
    ],
  }
  t.throws(() => readIt(told), RangeError)
  t.throws(() => readIt({ ...PRESENT, stays: [null] }), TypeError)
})

t.test('facts are measured before a schema costs what it may', async (t) => {
  const list = Type.Array(Type.Unknown(), { uniqueItems: true })
  const quadratic = { ...profile, facts: Type.Object({ list }) as never }
  const nested = JSON.parse('['.repeat(9) + ']'.repeat(9))
  const before = process.cpuUsage().user
  for (const [facts, problem] of [
    [{ list: Array.from({ length: 10_000 }, (_, at) => ({ at })) }, 'facts are too large'],
    [{ list: Array.from({ length: 1024 }, (_, at) => at) }, 'facts have more than 1024 values'],
    [{ list: nested }, 'facts are nested deeper than 8 levels'],
    [{ list: [1, 1] }, /facts\.list/],
    [undefined, /facts/],
  ] as const) {
    t.match(readObservation(quadratic, { ...PRESENT, facts }, leakFinder([])).problem, problem)
  }
  // The first list alone takes some seconds.
  t.ok(process.cpuUsage().user - before < 1_000_000)
})
