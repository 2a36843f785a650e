/**
 * What holds for every verdict by rules of version 2, in simulated worlds with and without logs, with clients and hosts whose clocks are wrong, and
 * hosts that are down. Threats A1 and D2 of `security.md`.
 */
import { windowStart } from '@claimcheck/core/plugin'
import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  decide,
  freshnessOf,
  type Instant,
  isFreshBy,
  isRead,
  nextCheck,
  type Rules,
} from '@claimcheck/core/rules'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { runs } from '../../test/support/extent.ts'

const RUNS = 4000
const SECOND = 1000
const MINUTE = 60 * SECOND

function holds(t: Test, predicate: (world: World) => boolean): void {
  t.doesNotThrow(() => fc.assert(fc.property(worldArb, predicate), runs(RUNS)))
}

const SUBMITTED_AT = 100 * 60 * MINUTE
const RULES: Rules = { rulesVersion: 2, required: { state: 'content' }, toleranceMs: 4 * MINUTE }
const AGE_MS = 2 * SECOND

/** A time in which the outcome was there. */
interface TrueStay {
  readonly from: Instant
  readonly until: Instant
}

const moment = fc.oneof(
  fc.integer({ min: SUBMITTED_AT - 30 * MINUTE, max: SUBMITTED_AT + 8 * MINUTE }),
  fc.integer({ min: SUBMITTED_AT - 20 * SECOND, max: SUBMITTED_AT + 4 * MINUTE }),
  fc.integer({ min: SUBMITTED_AT - 3 * SECOND, max: SUBMITTED_AT + 3 * SECOND }),
)
const afterTolerance = fc.integer({ min: SUBMITTED_AT + 4 * MINUTE, max: SUBMITTED_AT + 6 * MINUTE })
const moments = fc.oneof(
  { weight: 9, arbitrary: fc.uniqueArray(moment, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.tuple(afterTolerance) },
)

const worldArb = fc.record({
  stays: moments.map((moments): TrueStay[] => {
    const times = moments.toSorted((one, other) => one - other)
    return times.flatMap((from, index) =>
      index % 2 === 0 ? [{ from, until: times[index + 1] ?? Number.POSITIVE_INFINITY }] : [],
    )
  }),
  /** `remains`: the log forgets what was deleted, and dates what remains to long before. */
  log: fc.constantFrom('none', 'none', 'whole', 'record', 'remains'),
  /** How old the answers of the place may be: it shows a state of any moment since. */
  ageMs: fc.constantFrom(0, AGE_MS),
  aheadMs: fc.oneof(fc.constant(0), fc.integer({ min: -15 * SECOND, max: 5 * SECOND })),
  claimedAgoMs: fc.option(fc.integer({ min: 0, max: 15 * SECOND })),
  isWatched: fc.constantFrom(true, true, true, false),
  downUntilMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 20 * MINUTE }) },
  ),
  reads: fc.infiniteStream(
    fc.record({
      delayMs: fc.constantFrom(0, 0, 0, 0, 0, 300, 9 * SECOND),
      tookMs: fc.integer({ min: 1, max: 3000 }),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      fails: fc.integer({ min: 0, max: 12 }).map((n) => n === 0),
    }),
  ),
})
type World = typeof worldArb extends fc.Arbitrary<infer W> ? W : never

function claimOf({ aheadMs, claimedAgoMs }: World): ClaimTimes {
  const claimedAt = SUBMITTED_AT + aheadMs
  const times = { claimedAt, submittedAt: SUBMITTED_AT }
  const freshBy = freshnessOf(RULES, { ...times, ...(claimedAgoMs === null ? {} : { claimedAgoMs }) })
  return { ...times, deadlineAt: claimedAt + RULES.toleranceMs + 2 * MINUTE, freshBy }
}

const LONG_AGO = SUBMITTED_AT - 60 * MINUTE

function look(world: World, seenAt: Instant) {
  const facts = {}
  const begun = world.stays.filter(({ from }) => from <= seenAt)
  const isThere = begun.some(({ until }) => seenAt < until)
  const from = windowStart(claimOf(world))
  const whole = begun
    .filter(({ until }) => until >= from)
    .map(({ from, until }) => ({
      appeared: { notBefore: from, notAfter: from },
      ...(until <= seenAt ? { removed: { notBefore: until, notAfter: until } } : {}),
    }))
  if (isThere) {
    const told = { none: undefined, record: undefined, whole, remains: [{ appeared: { notAfter: LONG_AGO } }] }[
      world.log
    ]
    return { kind: 'present' as const, differs: [], facts, ...(told ? { stays: told } : {}) }
  }
  if (world.log === 'record')
    return {
      kind: 'absent' as const,
      facts,
      mark: begun.length === 0 ? ('never_before' as const) : ('may_have_been' as const),
    }
  return { kind: 'absent' as const, facts, ...(world.log === 'whole' ? { stays: whole } : {}) }
}

/** Plays the service: checks when the schedule says, decides after each check, stops at the first decision. */
function judge(world: World) {
  const claim = claimOf(world)
  const checks: CheckRecord[] = []
  let now = claim.submittedAt
  for (let index = 0; index < 300; index++) {
    const read = world.reads.next().value!
    const { at } = nextCheck(RULES, claim, checks, CLOSING, world.isWatched)
    const sentAt = Math.max(now, at, index === 1 ? SUBMITTED_AT + world.downUntilMs : 0) + read.delayMs
    const answeredAt = sentAt + read.tookMs
    now = answeredAt
    const shownAt = sentAt - world.ageMs + read.at * (read.tookMs + world.ageMs)
    checks.push(
      read.fails
        ? { sentAt, answeredAt, failure: { code: 'timeout' } }
        : {
            ...{ sentAt, answeredAt, dated: true, ageMs: world.ageMs, clockOffsetMs: SECOND },
            observation: look(world, shownAt),
          },
    )
    const decision = decide(RULES, claim, checks, answeredAt)
    if (decision) return { decision, checks, claim }
  }
  return undefined
}

const BLAME: ReadonlySet<string | undefined> = new Set(['failed', 'late', 'mismatch'])
const inTimeUntil = (world: World) => claimOf(world).claimedAt + RULES.toleranceMs

/** For how long it was there between the claim and the end of its tolerance, at a stretch. */
function longestInTime(world: World): number {
  const { claimedAt, submittedAt } = claimOf(world)
  const from = Math.min(claimedAt, submittedAt)
  return Math.max(0, ...world.stays.map((stay) => Math.min(stay.until, inTimeUntil(world)) - Math.max(stay.from, from)))
}

t.test('verified is said only of what was there by the end of the tolerance', async (t) => {
  holds(t, (world) => {
    // A log that remains tells of times that never were: the next test has it.
    if (world.log === 'remains' || judge(world)?.decision.verdict.value !== 'verified') return true
    return world.stays.some(({ from }) => from <= inTimeUntil(world))
  })
})

t.test('what remains in a log when the rest is deleted does not verify what was not there in time', async (t) => {
  holds(t, (world) => {
    const judged = judge({ ...world, log: 'remains' })
    if (judged?.decision.verdict.value !== 'verified') return true
    const reads = judged.checks.filter(isRead)
    // Looks that could have seen it.
    const without = reads.filter(({ observation, sentAt }) => observation.kind === 'absent' && sentAt > SUBMITTED_AT)
    const isSeen = without.length < 2 || without.at(-1)!.sentAt - without[0]!.sentAt < 2000
    return isSeen || world.stays.some(({ from }) => from <= inTimeUntil(world))
  })
})

t.test('what was there in time for longer than the largest gap is never blamed, with or without a log', async (t) => {
  let blamed = 0
  holds(t, (world) => {
    const judged = judge(world)
    if (!judged || !BLAME.has(judged.decision.verdict.value)) return true
    const { largestGapMs } = judged.decision
    if (largestGapMs === undefined) return world.log !== 'none' && longestInTime(world) === 0
    blamed++
    return largestGapMs <= 30_000 && longestInTime(world) <= largestGapMs
  })
  t.ok(blamed > 0, `${blamed} blamed by looks`)
})

t.test('without a log nothing that is not fresh is blamed', async (t) => {
  holds(t, (world) => {
    const judged = judge({ ...world, log: 'none' })
    return !judged || !BLAME.has(judged.decision.verdict.value) || isFreshBy(judged.claim.freshBy!)
  })
})

t.test('a plain lie that is fresh and watched is blamed, with a log and without one', async (t) => {
  for (const log of ['none', 'whole'] as const) {
    holds(t, (world) => {
      const lie: World = { ...world, log, stays: [], aheadMs: 0, claimedAgoMs: null, isWatched: true, downUntilMs: 0 }
      const judged = judge(lie)
      if (!judged) return false
      const reads = judged.checks.filter(isRead)
      // A place that could not be read blames nobody, nor does one whose first look came too late.
      const isPrompt = reads.some(({ sentAt }) => sentAt >= SUBMITTED_AT + lie.ageMs && sentAt <= SUBMITTED_AT + 5000)
      const isWhole = reads.length === judged.checks.length && (log === 'whole' || isPrompt)
      return !isWhole || judged.decision.verdict.value === 'failed'
    })
  }
})

t.test('a look that fails now and then does not let a lie escape', async (t) => {
  holds(t, (world) => {
    let failures = 0
    const reads = (function* () {
      for (const read of world.reads) yield { ...read, delayMs: 0, fails: failures++ % 5 === 3 }
    })()
    const lie = {
      ...world,
      log: 'none',
      stays: [],
      aheadMs: 0,
      claimedAgoMs: null,
      isWatched: true,
      downUntilMs: 0,
      reads,
    }
    return judge(lie as unknown as World)?.decision.verdict.value === 'failed'
  })
})

t.test('every world is decided in the end, and blame rests on two reads that agree', async (t) => {
  const seen = new Set<string>()
  holds(t, (world) => {
    const judged = judge(world)
    if (!judged) return false
    const { verdict, basis } = judged.decision
    seen.add(verdict.value)
    if (!BLAME.has(verdict.value) || !isRead(basis)) return true
    return judged.checks.some(
      (check) =>
        isRead(check) &&
        check.observation.kind === basis.observation.kind &&
        Math.abs(check.sentAt - basis.sentAt) >= 2000,
    )
  })
  t.strictSame([...seen].sort(), ['failed', 'late', 'unverifiable', 'verified'])
})
