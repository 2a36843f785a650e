/** The result of looking again at a decided claim: what is no evidence for blame is no change. */
import {
  type CheckRecord,
  canBeRevisited,
  type ReadRecord,
  type RevisitResult,
  revisitCase,
  revisitFinding,
  witnessed,
  witnessesOf,
} from '@claimcheck/core/rules'
import t from 'tap'
import { absent, D, differs, FORGETS, failure, GRACE_END, log, NEVER, present, RULES, stay } from './rules-cases.ts'

const DAY = 24 * 3_600_000
const MINUTE = 60_000
/** The claim was of a week before; the revisit begins at 0, so that its deadline is D. */
const CLAIM = { claimedAt: -7 * DAY, deadlineAt: -7 * DAY + D }

interface Row {
  readonly name: string
  readonly result: RevisitResult | undefined
  readonly looks: readonly CheckRecord[]
  readonly ageMs?: number
  readonly now?: number
}

const GONE = [absent(100), absent(2200), absent(5 * MINUTE), absent(D + 100)]
const FORCED_AWAY = log(stay(-8 * DAY, -3 * DAY))
/** The claim's own checks. */
const OWN = [present(-7 * DAY)]
const RED = (at: number) => differs(at, ['sha'])

const rows: readonly Row[] = [
  { name: 'there at the first look', result: 'still_so', looks: [present(100)] },
  { name: 'there after one odd answer', result: 'still_so', looks: [absent(100), present(2200)] },
  { name: 'there again at the deadline', result: 'still_so', looks: [...GONE.slice(0, 3), present(D + 100)] },
  { name: 'one absence', result: undefined, looks: [absent(100)] },
  { name: 'two absences apart, before the deadline', result: undefined, looks: GONE.slice(0, 3) },
  { name: 'absences to the deadline', result: 'changed', looks: GONE },
  { name: 'other content to the deadline', result: 'changed', looks: [RED(100), RED(2200), RED(D + 100)] },
  { name: 'absences that a log confirms', result: 'changed', looks: GONE.map((look) => with_(look, FORCED_AWAY)) },
  {
    name: 'a log alone, without a look at once',
    result: 'changed',
    looks: [absent(MINUTE, FORCED_AWAY), absent(D + 100, FORCED_AWAY)],
  },
  {
    name: 'a look at once by no log',
    result: 'cannot_be_told',
    looks: [absent(MINUTE), absent(D + 100), failure(GRACE_END, 'timeout')],
  },
  {
    name: 'forced away while it is looked at',
    result: 'cannot_be_told',
    looks: GONE.map((look) => with_(look, log(stay(-8 * DAY, 5000)))),
  },
  {
    name: 'places that forget',
    result: 'cannot_be_told',
    looks: [absent(100, FORGETS), absent(2200, FORGETS), absent(D + 100, FORGETS), absent(D + 2200, FORGETS)],
  },
  {
    name: 'one look at a place that forgets',
    result: 'cannot_be_told',
    looks: [absent(100, FORGETS), ...GONE.slice(1)],
  },
  { name: 'a record that it never was', result: 'changed', looks: [absent(100, NEVER), absent(D + 100, NEVER)] },
  {
    name: 'a lost permission',
    result: 'cannot_be_told',
    looks: [100, 2200, D + 100, GRACE_END].map((at) => failure(at, 'forbidden')),
  },
  { name: 'a removed connection', result: 'cannot_be_told', looks: [failure(100, 'no_connection')] },
  {
    name: 'an outage from before the deadline on',
    result: 'cannot_be_told',
    looks: [absent(100), ...[2200, D + 100, GRACE_END].map((at) => failure(at, 'unavailable'))],
  },
  {
    name: 'an outage, and then one absence at the deadline',
    result: 'cannot_be_told',
    looks: [failure(100, 'unavailable'), absent(D + 100), failure(GRACE_END, 'unavailable')],
  },
  {
    name: 'an absence and another content do not confirm each other',
    result: 'cannot_be_told',
    looks: [absent(100), RED(D + 100), failure(GRACE_END, 'timeout')],
  },
  {
    name: 'a clock that jumps',
    result: 'cannot_be_told',
    looks: [...GONE.slice(0, 3), absent(D + 100, { offset: 90_000 }), absent(D + 2200, { offset: 90_000 })],
  },
  { name: 'an old answer that shows it', result: undefined, looks: [present(100, { ageMs: MINUTE })] },
  {
    name: 'and one that is new enough',
    result: 'still_so',
    looks: [present(100, { ageMs: MINUTE }), present(D + MINUTE, { ageMs: MINUTE })],
  },
  { name: 'and then none', result: 'cannot_be_told', looks: [present(100, { ageMs: MINUTE }), absent(D + MINUTE)] },
]

function with_(look: CheckRecord, told: object): CheckRecord {
  const { observation, ...rest } = look as ReadRecord
  return { ...rest, observation: { ...observation, ...told } }
}

for (const rulesVersion of [1, 2]) {
  for (const { name, result, looks, now } of rows) {
    t.test(`rules ${rulesVersion}: ${name}: ${result ?? 'waits'}`, async (t) => {
      const asked = revisitCase({ ...RULES, rulesVersion }, CLAIM, 0)
      t.equal(revisitFinding(asked, looks, now ?? looks.at(-1)!.answeredAt)?.result, result)
    })
  }
}

t.test('an hour is the longest time of a revisit', async (t) => {
  const { claim } = revisitCase(RULES, { claimedAt: 0, deadlineAt: 30 * DAY }, DAY)
  t.equal(claim.deadlineAt, DAY + 60 * MINUTE)
  const looks = [absent(100), absent(2200), absent(60 * MINUTE + 100)]
  const resultWithin = (ms: number, seen: readonly CheckRecord[]) =>
    revisitFinding(revisitCase(RULES, { claimedAt: 0, deadlineAt: ms }, 0), seen, seen.at(-1)!.answeredAt)?.result
  t.equal(resultWithin(60 * MINUTE, looks), 'changed')
  t.equal(resultWithin(60 * MINUTE + 1, looks), 'cannot_be_told', 'the claim had longer')
  t.equal(resultWithin(60 * MINUTE + 1, [present(100)]), 'still_so')
})

t.test('a change needs two witnesses apart that see what the looks saw', async (t) => {
  const asked = revisitCase(RULES, CLAIM, 0)
  const finding = revisitFinding(asked, GONE, D + 200)!
  t.equal(witnessesOf(finding), 2)
  const resultWith = (...witnesses: CheckRecord[]) => witnessed(finding, asked, OWN, witnesses).result
  const again = absent(D + 2300)
  t.equal(resultWith(absent(D + 300), again), 'changed')
  t.equal(resultWith(absent(D + 300, FORGETS), again), 'changed', 'it forgets what the claim’s own checks saw')
  t.equal(resultWith(absent(D + 300)), 'cannot_be_told', 'one witness')
  t.equal(resultWith(), 'cannot_be_told')
  t.equal(resultWith(absent(D + 301), again), 'cannot_be_told', 'not apart')
  t.equal(resultWith(absent(-1), again), 'cannot_be_told', 'before the revisit')
  t.equal(resultWith(absent(D, { ageMs: D + 1 }), again), 'cannot_be_told', 'an answer from before the revisit')
  t.equal(resultWith(absent(D + 300, { mark: 'unsettled' }), again), 'cannot_be_told')
  for (const other of [RED, present, (at: number) => failure(at, 'forbidden')]) {
    t.equal(resultWith(other(D + 300), again), 'cannot_be_told')
    t.equal(resultWith(absent(D + 300), other(D + 2300)), 'cannot_be_told')
  }
  t.equal(resultWith(RED(D + 300), RED(D + 2300)), 'cannot_be_told', 'they agree, but not with the looks')
  t.equal(resultWith(failure(D + 300, 'ambiguous_claim'), again), 'cannot_be_told', 'another repository of that name')
})

t.test('a difference needs witnesses that see the same one', async (t) => {
  const asked = revisitCase(RULES, CLAIM, 0)
  const finding = revisitFinding(asked, [RED(100), RED(2200), RED(D + 100)], D + 200)!
  const resultWith = (...witnesses: CheckRecord[]) => witnessed(finding, asked, OWN, witnesses).result
  t.equal(resultWith(RED(D + 300), RED(D + 2300)), 'changed')
  t.equal(resultWith(RED(D + 300), differs(D + 2300, ['branch'])), 'cannot_be_told')
  t.equal(resultWith(absent(D + 300), absent(D + 2300)), 'cannot_be_told')
})

t.test('what is still so needs a witness that shows it, by the plugin that showed it to the claim', async (t) => {
  const asked = revisitCase(RULES, CLAIM, 0)
  const by = (name: string, look: CheckRecord): CheckRecord => ({ ...look, plugin: { package: name } })
  const finding = revisitFinding(asked, [present(100)], 200)!
  t.equal(witnessesOf(finding), 1)
  const resultWith = (...witnesses: CheckRecord[]) => witnessed(finding, asked, OWN, witnesses).result
  t.equal(resultWith(present(300)), 'still_so')
  t.equal(resultWith(), 'cannot_be_told')
  t.equal(resultWith(absent(300)), 'cannot_be_told')
  t.equal(resultWith(failure(300, 'ambiguous_claim')), 'cannot_be_told', 'another repository of that name')
  t.equal(resultWith(failure(300, 'misconfigured')), 'cannot_be_told', 'another address')
  t.equal(resultWith(present(300, { ageMs: 301 })), 'cannot_be_told', 'an answer from before the revisit')
  const found = { ...finding, basis: by('one', finding.basis) }
  const own = [by('one', present(-DAY))]
  t.equal(witnessed(found, asked, own, [by('one', present(300))]).result, 'still_so')
  t.equal(witnessed(found, asked, own, [by('other', present(300))]).result, 'cannot_be_told')
  t.equal(witnessed(finding, asked, own, [by('one', present(300))]).result, 'cannot_be_told')
})

t.test('only what a check saw can be looked at again', async (t) => {
  t.ok(canBeRevisited('verified', [absent(0), present(1)]))
  t.ok(canBeRevisited('late', [present(1)]))
  for (const verdict of ['failed', 'mismatch', 'unverifiable', null] as const)
    t.notOk(canBeRevisited(verdict, [present(1)]))
  t.notOk(canBeRevisited('verified', [absent(1, log(stay(0, 500)))]), 'it was gone already')
})
