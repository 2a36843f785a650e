/** What holds for every verdict of rules 1, in simulated worlds and for arbitrary records. */
import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  decide,
  nextCheck,
  type Rules,
  showsOutcome,
} from '@claimcheck/core'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { tries } from '../../test/support/extent.ts'

const RUNS = 3000

function holds<T>(t: Test, property: fc.IProperty<T>, numRuns: number): void {
  t.doesNotThrow(() => fc.assert(property, { numRuns: tries(numRuns) }))
}

const rulesArb = fc.record({
  rulesVersion: fc.constant(1 as const),
  required: fc.constant({ branch: 'target', sha: 'content' } as const),
  toleranceMs: fc.integer({ min: 1000, max: 60_000 }),
  ageMs: fc.constantFrom(0, 0, 3000),
})

/** A simulated world: the outcome appears at most once, can be removed again, and is read at times by checks that can fail. */
const worldArb = rulesArb.chain((rules) =>
  fc.record({
    rules: fc.constant(rules),
    claim: fc.record({
      claimedAt: fc.constant(0),
      deadlineAt: fc.integer({ min: rules.toleranceMs + 1, max: 120_000 }),
      submittedAt: fc.integer({ min: 0, max: 180_000 }),
    }),
    appearsAt: fc.option(fc.integer({ min: -50_000, max: 150_000 }), { nil: Number.POSITIVE_INFINITY }),
    staysMs: fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: Number.POSITIVE_INFINITY }),
    elsewhere: fc.boolean(),
    clockOffset: fc.integer({ min: -5000, max: 5000 }),
    reads: fc.array(
      fc.record({
        gapMs: fc.integer({ min: 0, max: 30_000 }),
        tookMs: fc.integer({ min: 0, max: 2000 }),
        // When between request and answer the state was read, and how old the replica was.
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        stale: fc.double({ min: 0, max: 1, noNaN: true }),
        fails: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
        tellsTime: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  }),
)
type World = typeof worldArb extends fc.Arbitrary<infer W> ? W : never

function play(world: World): CheckRecord[] {
  let now = world.claim.submittedAt
  return world.reads.map((read): CheckRecord => {
    const sentAt = now + read.gapMs
    const answeredAt = sentAt + read.tookMs
    now = answeredAt
    if (read.fails) return { sentAt, answeredAt, failure: { code: 'timeout' } }
    const seenAt = sentAt + read.at * read.tookMs - read.stale * world.rules.ageMs
    const there = seenAt >= world.appearsAt && seenAt < world.appearsAt + world.staysMs
    const clockOffsetMs = Math.abs(world.clockOffset)
    if (there) {
      const second = Math.floor((world.appearsAt + world.clockOffset) / 1000) * 1000
      const appeared = read.tellsTime ? { appeared: { notBefore: second, notAfter: second + 999 } } : {}
      return {
        sentAt,
        answeredAt,
        clockOffsetMs,
        observation: { kind: 'present', facts: {}, differs: [], ...appeared },
      }
    }
    return world.elsewhere
      ? { sentAt, answeredAt, clockOffsetMs, observation: { kind: 'present', facts: {}, differs: ['branch'] } }
      : { sentAt, answeredAt, clockOffsetMs, observation: { kind: 'absent', facts: {} } }
  })
}

/** Decides after each check as the service does, until the first decision. */
function judge(world: World) {
  const history: CheckRecord[] = []
  for (const record of play(world)) {
    history.push(record)
    const decision = decide(world.rules, world.claim, history, record.answeredAt)
    if (decision) return { decision, history }
  }
  return undefined
}

t.test('in every world, a verdict is never wrong', async (t) => {
  const seen = new Set<string>()
  holds(
    t,
    fc.property(worldArb, (world) => {
      const judged = judge(world)
      if (!judged) return
      const { verdict } = judged.decision
      seen.add(verdict.value)
      const inTimeUntil = world.rules.toleranceMs
      const { deadlineAt } = world.claim
      const thereAt = (moment: number) => moment >= world.appearsAt && moment < world.appearsAt + world.staysMs
      switch (verdict.value) {
        case 'verified':
          return world.appearsAt <= inTimeUntil
        case 'late':
          return world.appearsAt >= inTimeUntil && world.appearsAt < deadlineAt
        case 'failed':
        case 'mismatch':
          // It was missing at some moment of the closing window, or the destination's log shows that it appeared after the deadline.
          return (
            world.appearsAt >= deadlineAt ||
            !thereAt(deadlineAt) ||
            !thereAt(deadlineAt + world.rules.ageMs + CLOSING.closingMs)
          )
        case 'unverifiable':
          return true
      }
    }),
    4 * RUNS,
  )
  t.strictSame([...seen].sort(), ['failed', 'late', 'mismatch', 'unverifiable', 'verified'], 'each verdict occurs')
})

t.test('an outcome that was seen is never a mismatch, and failed only if it appeared after the deadline', async (t) => {
  holds(
    t,
    fc.property(worldArb, (world) => {
      const judged = judge(world)
      if (!judged?.history.some(showsOutcome)) return
      const { value } = judged.decision.verdict
      return value !== 'mismatch' && (value !== 'failed' || world.appearsAt >= world.claim.deadlineAt)
    }),
    RUNS,
  )
})

const timeArb = fc.integer({ min: 0, max: 200_000 })
const recordArb: fc.Arbitrary<CheckRecord> = fc
  .record({ sentAt: timeArb, tookMs: fc.integer({ min: 0, max: 5000 }), rest: fc.anything() })
  .chain(({ sentAt, tookMs }) => {
    const times = { sentAt: fc.constant(sentAt), answeredAt: fc.constant(sentAt + tookMs) }
    const optional = { requiredKeys: ['kind', 'facts', 'differs'] } as { requiredKeys: ['kind', 'facts', 'differs'] }
    const present = fc.record(
      {
        kind: fc.constant('present' as const),
        facts: fc.constant({}),
        differs: fc.constantFrom<readonly string[]>([], ['branch'], ['sha']),
        appeared: fc.tuple(timeArb, timeArb).map(([a, b]) => ({ notBefore: Math.min(a, b), notAfter: Math.max(a, b) })),
        settled: fc.boolean(),
      },
      optional,
    )
    const absent = fc.record({ kind: fc.constant('absent' as const), facts: fc.constant({}), settled: fc.boolean() })
    return fc.oneof(
      fc.record({ ...times, clockOffsetMs: fc.nat(60_000), observation: fc.oneof(present, absent) }),
      fc.record({
        ...times,
        failure: fc.record({
          code: fc.constantFrom('timeout', 'forbidden', 'rate_limited', 'verifier_error', 'ambiguous_claim'),
          retryAt: timeArb,
        }),
      }),
    )
  })
const historyArb = fc.array(recordArb, { maxLength: 10 }).map((records) => records.sort((a, b) => a.sentAt - b.sentAt))
const claimArb: fc.Arbitrary<ClaimTimes> = fc.record({
  claimedAt: fc.constant(0),
  deadlineAt: fc.integer({ min: 60_001, max: 120_000 }),
  submittedAt: timeArb,
})
const anyArb = fc.record({ rules: rulesArb, claim: claimArb, history: historyArb, laterMs: fc.nat(300_000) })

function decideAny({
  rules,
  claim,
  history,
  laterMs,
}: {
  rules: Rules
  claim: ClaimTimes
  history: CheckRecord[]
  laterMs: number
}) {
  const now = Math.max(0, ...history.map((record) => record.answeredAt)) + laterMs
  return decide(rules, claim, history, now)
}

t.test(
  'verified needs a read that shows the outcome, and evidence that it appeared before the tolerance ended',
  async (t) => {
    holds(
      t,
      fc.property(anyArb, (any) => {
        const decision = decideAny(any)
        if (decision?.verdict.value !== 'verified') return
        return any.history.some(showsOutcome) && decision.appeared!.notAfter <= any.rules.toleranceMs
      }),
      RUNS,
    )
  },
)

t.test(
  'failed and mismatch need a successful read that ends after the deadline, or a settled difference',
  async (t) => {
    holds(
      t,
      fc.property(anyArb, (any) => {
        const decision = decideAny(any)
        if (!decision || !['failed', 'mismatch'].includes(decision.verdict.value)) return
        return any.history.some(
          (record) =>
            'observation' in record &&
            (record.answeredAt >= any.claim.deadlineAt ||
              (record.observation.kind === 'present' &&
                record.observation.differs.length > 0 &&
                record.observation.settled)),
        )
      }),
      RUNS,
    )
  },
)

t.test('the same history gives the same verdict, and so does its copy in JSON', async (t) => {
  holds(
    t,
    fc.property(anyArb, (any) => {
      const copy: typeof any = JSON.parse(JSON.stringify(any))
      return JSON.stringify(decideAny(any)) === JSON.stringify(decideAny(copy))
    }),
    RUNS,
  )
})

t.test('an undecided claim is always checked again, and decided when its time is over', async (t) => {
  holds(
    t,
    fc.property(worldArb, fc.constantFrom('absent', 'timeout', 'rate_limited'), (world, outcome) => {
      const history: CheckRecord[] = []
      let now = world.claim.submittedAt
      for (let step = 0; step < 200; step++) {
        const next = nextCheck(world.rules, world.claim, history, CLOSING).at
        if (Number.isNaN(next)) return false
        now = Math.max(now + 1, next)
        const times = { sentAt: now, answeredAt: now + 50 }
        now += 50
        history.push(
          outcome === 'absent'
            ? { ...times, clockOffsetMs: 0, observation: { kind: 'absent', facts: {} } }
            : { ...times, failure: { code: outcome, ...(outcome === 'rate_limited' ? { retryAt: now + 7000 } : {}) } },
        )
        const decision = decide(world.rules, world.claim, history, now)
        if (decision) {
          const expected =
            outcome === 'absent' && world.claim.submittedAt <= world.claim.deadlineAt ? 'failed' : 'unverifiable'
          return outcome === 'absent' && world.claim.submittedAt > world.claim.deadlineAt
            ? ['failed', 'unverifiable'].includes(decision.verdict.value)
            : decision.verdict.value === expected
        }
      }
      return false
    }),
    500,
  )
})
