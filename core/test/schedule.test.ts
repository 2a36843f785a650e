/** When a claim is checked. */
import { type CheckRecord, CLOSING, type ClaimTimes, expectedBy, nextCheck, type Rules } from '@claimcheck/core/rules'
import t from 'tap'

// In time until 600 s, deadline at 900 s.
const L = 600_000
const D = 900_000
const CLAIM: ClaimTimes = { claimedAt: 0, deadlineAt: D, submittedAt: 1000 }
const RULES: Rules = { rulesVersion: 1, required: {}, toleranceMs: L }

const read = (sentAt: number, present = false, took = 100, ageMs = 0): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + took,
  clockOffsetMs: 0,
  ageMs,
  observation: present ? { kind: 'present', facts: {}, differs: [] } : { kind: 'absent', facts: {} },
})
const failed = (sentAt: number, retryAt?: number): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + 100,
  failure: { code: 'timeout', ...(retryAt === undefined ? {} : { retryAt }) },
})
const next = (history: CheckRecord[], rules = RULES, claim = CLAIM) => nextCheck(rules, claim, history, CLOSING).at

t.test('a new claim is checked at once', async (t) => {
  t.equal(next([]), CLAIM.submittedAt)
})

t.test('the second check comes two seconds after the first, and the gaps grow to five minutes', async (t) => {
  const history: CheckRecord[] = []
  const gaps: number[] = []
  const claim = { ...CLAIM, deadlineAt: 10_000_000 }
  const rules = { ...RULES, toleranceMs: 9_000_000 }
  for (let i = 0; i < 9; i++) {
    const at = next(history, rules, claim)
    gaps.push(at - (history.at(-1)?.answeredAt ?? at))
    history.push(read(at))
  }
  t.strictSame(gaps, [0, 2000, 5000, 12_500, 31_250, 78_125, 195_313, 300_000, 300_000])
})

t.test('a pair of checks is around each deciding moment, and an early one before the tolerance ends', async (t) => {
  const history: CheckRecord[] = []
  while ((history.at(-1)?.sentAt ?? 0) < D) history.push(read(next(history)))
  const sent = history.map((record) => record.sentAt)
  for (const moment of [L - 5500, L - 500, L, D - 500, D]) t.ok(sent.includes(moment), `checked at ${moment}`)
  t.ok(sent.length <= 16, `${sent.length} checks in all`)
})

t.test('the first check of a pair is early by twice the time that the slowest check took', async (t) => {
  t.equal(next([read(L - 30_000, false, 2000), read(L - 8000)]), L - 4000)
  const slow = [read(L - 60_000, false, 9000), read(L - 50_000), read(L - 49_000), read(L - 14_000)]
  t.equal(next(slow), L - 10_000, 'at most ten seconds')
})

t.test('when answers can be old, the second check of a pair is later by that age', async (t) => {
  const rules = { ...RULES, ageMs: 2000 }
  const many = Array.from({ length: 8 }, (_, index) => read(index * 1000))
  t.equal(next([...many, read(L - 400)], rules), L + 2000)
  t.equal(next([...many, read(D - 400)], rules), D + 2000)
  t.equal(next([...many, read(L - 400, false, 100, 7000)], rules), L + 7000, 'by the age that answers told')
})

t.test('an outcome that was seen is checked again until the deadline', async (t) => {
  t.equal(next([read(L - 20_000, true)]), L - 17_900, 'at growing gaps, because the log may list it later')
  t.equal(next([read(D - 1000, true)]), D)
})

t.test('a check that fails near a deciding moment is made again within a second', async (t) => {
  const many = Array.from({ length: 6 }, (_, index) => read(index * 1000))
  for (const moment of [L - 9000, L + 300, L + 9000, D - 5000]) {
    const gap = next([...many, failed(moment)]) - (moment + 100)
    t.ok(gap > 0 && gap <= 1000, `${gap} ms after a failure at ${moment}`)
  }
  t.equal(next([...many, failed(L - 60_000)]), L - 5500, 'not elsewhere')
  t.equal(next([...many, failed(L - 1000, L + 8000)]), L + 8000, 'nor before a Retry-After')
})

t.test('no check is made before a Retry-After', async (t) => {
  t.equal(next([failed(1000, 400_000)]), 400_000)
  t.equal(next([failed(1000, L + 5000)]), L + 5000, 'not even for a pair of checks')
  t.equal(next([failed(1000, 2000)]), 3100)
})

t.test('after the deadline failing checks are repeated, the last time when the grace ends', async (t) => {
  const history = [failed(D)]
  t.equal(next(history), D + 100 + 1000)
  while (history.at(-1)!.sentAt < D + CLOSING.graceMs) history.push(failed(next(history)))
  t.equal(history.at(-1)!.sentAt, D + CLOSING.graceMs)
  t.ok(history.length < 20, `${history.length} tries`)
})

t.test('a closing read that no other confirms yet is followed by a second that is far enough from it', async (t) => {
  const history = [read(D)]
  while (history.at(-1)!.sentAt < D + 2000) history.push(read(next(history)))
  t.ok(history.at(-1)!.sentAt <= D + CLOSING.closingMs)
})

t.test('a host that was down at the deadline checks at once when it is back', async (t) => {
  t.ok(next([read(D - 60_000)]) <= D)
})

t.test('a claim whose checks ended their process twice is read only at the moments that decide', async (t) => {
  const ended = (sentAt: number): CheckRecord => ({
    sentAt,
    answeredAt: sentAt + 100,
    failure: { code: 'verifier_error', endedProcess: true },
  })
  const once = [ended(1000)]
  t.equal(next(once), 3100, 'once may be chance')
  const history = [...once, ended(3100)]
  const moments: number[] = []
  while (moments.length < 6) {
    const at = next(history)
    moments.push(at)
    history.push(ended(at))
  }
  const [early, before, after, closing, deadline, end] = moments
  t.ok(early! < before! && before! < L && after === L && closing! < D && deadline === D, moments.join(' '))
  t.equal(end, D + CLOSING.graceMs, 'and not again until its time is over')
  t.equal(next([...once, ended(3100), read(before!)]), after, 'also after a read')
})

t.test(
  'what is under way is looked at every 12 s, later every 18 s, and after ten minutes in proportion',
  async (t) => {
    const rules: Rules = { ...RULES, toleranceMs: 80_000_000, underWay: 'pending' }
    const claim = { ...CLAIM, deadlineAt: 86_000_000 }
    const pending = (sentAt: number, value: number | boolean): CheckRecord => ({
      ...read(sentAt),
      observation: { kind: 'absent', facts: { pending: value } },
    })
    const gapAt = (sentAt: number, value: number | boolean = 1) =>
      next([pending(sentAt, value)], rules, claim) - sentAt - 100
    const atFirst = 2000
    t.equal(gapAt(1000), 12_000)
    t.equal(gapAt(1000, true), 12_000)
    t.equal(gapAt(170_000), 12_000)
    t.equal(gapAt(200_000), 18_000)
    t.equal(gapAt(590_000), 18_000)
    t.equal(gapAt(720_900), 24_000)
    t.equal(gapAt(1_260_900), 40_000)
    t.equal(gapAt(3_590_000), 40_000)
    t.equal(gapAt(3_601_000), 40_000)
    t.equal(gapAt(7_200_900), 60_000)
    t.equal(gapAt(60_000_000), 300_000)
    for (const nothing of [0, false]) t.equal(gapAt(1000, nothing), atFirst)
  },
)

t.test('what has to settle is looked at every 18 s for an hour', async (t) => {
  const rules: Rules = { ...RULES, toleranceMs: 80_000_000, underWay: 'pending', settles: 'settles' }
  const claim = { ...CLAIM, deadlineAt: 86_000_000 }
  const gapAt = (sentAt: number, settles: boolean) => {
    const facts = { pending: 1, settles }
    return next([{ ...read(sentAt), observation: { kind: 'absent', facts } }], rules, claim) - sentAt - 100
  }
  for (const at of [700_000, 3_590_000]) t.equal(gapAt(at, true), 18_000)
  t.equal(gapAt(3_590_000, false), 40_000)
  t.equal(gapAt(7_200_900, true), 60_000)
})

t.test('what is under way is looked at every 18 s where looks alone can blame', async (t) => {
  const rules: Rules = { ...RULES, rulesVersion: 2, toleranceMs: 3_600_000, underWay: 'pending' }
  const claim = { ...CLAIM, submittedAt: 0, deadlineAt: 7_200_000 }
  const seen = (stays?: []) => {
    const history: CheckRecord[] = []
    for (let at = 0; at < 1_800_000; at += 18_000) {
      history.push({ ...read(at), observation: { kind: 'absent', facts: { pending: 1 }, ...(stays && { stays }) } })
    }
    return next(history, rules, claim) - history.at(-1)!.answeredAt
  }
  t.equal(seen(), 18_000)
  t.equal(seen([]), 40_000, 'a log makes up for looks')
})

t.test('a final read is made again after two seconds, once', async (t) => {
  const final = (sentAt: number): CheckRecord => ({
    ...read(sentAt),
    observation: { kind: 'absent', facts: {}, mark: 'final' },
  })
  const before = [1000, 4000, 10_000, 23_000].map((at) => read(at))
  t.equal(next([...before, final(60_000)]), 62_100)
  t.ok(next([...before, final(60_000), final(62_100)]) > 100_000)
})

t.test('a verdict is to be expected by the closing read, and later where answers are old or reads fail', async (t) => {
  const by = (last: CheckRecord | null, rules = RULES, claim = CLAIM) => expectedBy(rules, claim, last, CLOSING)
  t.equal(by(null), D + 30_000)
  t.equal(by(read(1000)), D + 30_000)
  t.equal(by(read(1000, false, 100, 5000)), D + 35_000)
  t.equal(by(null, { ...RULES, ageMs: 2000 }), D + 32_000)
  t.equal(by(failed(1000)), D + 120_000)
  t.equal(by(failed(1000, D + 500_000)), D + 500_000, 'no read is made before that')
  t.equal(by(null, RULES, { ...CLAIM, submittedAt: D + 60_000 }), D + 90_000, 'a claim of what is long over')
})
