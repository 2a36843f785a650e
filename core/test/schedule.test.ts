/** When a claim is checked. */
import { type CheckRecord, CLOSING, type ClaimTimes, nextCheckAt, type Rules } from '@claimcheck/core'
import t from 'tap'

// In time until 600 s, deadline at 900 s.
const L = 600_000
const D = 900_000
const CLAIM: ClaimTimes = { claimedAt: 0, deadlineAt: D, submittedAt: 1000 }
const RULES: Rules = { required: {}, toleranceMs: L }

const read = (sentAt: number, present = false, took = 100): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + took,
  clockOffsetMs: 0,
  observation: present ? { kind: 'present', facts: {}, differs: [] } : { kind: 'absent', facts: {} },
})
const failed = (sentAt: number, retryAt?: number): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + 100,
  failure: { code: 'timeout', ...(retryAt === undefined ? {} : { retryAt }) },
})
const next = (history: CheckRecord[], rules = RULES, claim = CLAIM) => nextCheckAt(rules, claim, history, CLOSING)

t.test('a new claim is checked at once', async (t) => {
  t.equal(next([]), CLAIM.submittedAt)
})

t.test('the intervals between checks grow from five seconds to five minutes', async (t) => {
  const history: CheckRecord[] = []
  const gaps: number[] = []
  const claim = { ...CLAIM, deadlineAt: 10_000_000 }
  const rules = { ...RULES, toleranceMs: 9_000_000 }
  for (let i = 0; i < 9; i++) {
    const at = next(history, rules, claim)
    gaps.push(at - (history.at(-1)?.answeredAt ?? at))
    history.push(read(at))
  }
  t.strictSame(gaps, [0, 5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
})

t.test('there is a pair of checks around the end of the tolerance, and one around the deadline', async (t) => {
  const history: CheckRecord[] = []
  while ((history.at(-1)?.sentAt ?? 0) < D) history.push(read(next(history)))
  const sent = history.map((record) => record.sentAt)
  for (const moment of [L - 500, L, D - 500, D]) t.ok(sent.includes(moment), `checked at ${moment}`)
  t.ok(sent.length <= 16, `${sent.length} checks in all`)
})

t.test('the first check of a pair is early by twice the time that the slowest check took', async (t) => {
  t.equal(next([read(L - 8000, false, 2000)]), L - 4000)
  t.equal(
    next([read(L - 60_000, false, 9000), read(L - 50_000), read(L - 49_000), read(L - 30_000)]),
    L - 10_000,
    'at most ten seconds',
  )
})

t.test('when answers can be old, the second check of a pair is later by that age', async (t) => {
  const rules = { ...RULES, lagMs: 2000 }
  t.equal(next([read(L - 400)], rules), L + 2000)
  t.equal(next([read(D - 400)], rules), D + 2000)
})

t.test('an outcome that was seen is checked again until the deadline', async (t) => {
  t.equal(
    next([read(L - 20_000, true)]),
    L - 14_900,
    'at growing intervals, because the destination may say the time later',
  )
  t.equal(next([read(D - 1000, true)]), D)
})

t.test('no check is made before a Retry-After', async (t) => {
  t.equal(next([failed(1000, 400_000)]), 400_000)
  t.equal(next([failed(1000, L + 5000)]), L + 5000, 'not even for a pair of checks')
  t.equal(next([failed(1000, 2000)]), 6100)
})

t.test('after the deadline failing checks are repeated, the last time when the grace ends', async (t) => {
  const history = [failed(D)]
  t.equal(next(history), D + 100 + 1000)
  while (history.at(-1)!.sentAt < D + CLOSING.graceMs) history.push(failed(next(history)))
  t.equal(history.at(-1)!.sentAt, D + CLOSING.graceMs)
  t.ok(history.length < 20, `${history.length} tries`)
})

t.test('a host that was down at the deadline checks at once when it is back', async (t) => {
  t.ok(next([read(D - 60_000)]) <= D)
})
