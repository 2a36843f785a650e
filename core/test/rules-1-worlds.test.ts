/**
 * What holds for every verdict, in simulated worlds with logs that are cut, bots that act within a second, clients with wrong
 * clocks, and clocks that step. Threat D2 of `security.md`.
 */

import { windowStart } from '@claimcheck/core/plugin'
import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  decide,
  type Instant,
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
const RULES: Rules = { rulesVersion: 1, required: { state: 'content' }, toleranceMs: 2 * MINUTE, underWay: 'pending' }

/** A time in which the outcome was there. */
interface TrueStay {
  readonly from: Instant
  readonly until: Instant
}

const moment = fc.oneof(
  fc.integer({ min: SUBMITTED_AT - 30 * MINUTE, max: SUBMITTED_AT + 6 * MINUTE }),
  // An agent and its bots.
  fc.integer({ min: SUBMITTED_AT - 3 * SECOND, max: SUBMITTED_AT + 3 * SECOND }),
)

const STEP = fc.record({
  at: fc.integer({ min: 0, max: 8 }),
  for: fc.integer({ min: 1, max: 4 }),
  ms: fc.integer({ min: 2 * MINUTE, max: 20 * MINUTE }),
})

const worldArb = fc.record({
  stays: fc.uniqueArray(moment, { maxLength: 4 }).map((moments): TrueStay[] => {
    const times = moments.toSorted((one, other) => one - other)
    return times.flatMap((from, index) =>
      index % 2 === 0 ? [{ from, until: times[index + 1] ?? Number.POSITIVE_INFINITY }] : [],
    )
  }),
  log: fc.constantFrom('none', 'whole', 'record', 'cut', 'unread'),
  /** How far the client's clock is ahead of ours. */
  aheadMs: fc.oneof(fc.constant(0), fc.integer({ min: -10 * MINUTE, max: 5 * MINUTE })),
  /** Our clock steps ahead at this check, and stays so for some. */
  step: fc.option(STEP, { freq: 4 }),
  dated: fc.constantFrom(true, true, true, false),
  isPending: fc.boolean(),
  reads: fc.infiniteStream(
    fc.record({
      delayMs: fc.constantFrom(0, 0, 0, 300, 20 * SECOND),
      tookMs: fc.integer({ min: 1, max: 3000 }),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      fails: fc.integer({ min: 0, max: 6 }).map((n) => n === 0),
    }),
  ),
})
type World = typeof worldArb extends fc.Arbitrary<infer W> ? W : never

function claimOf({ aheadMs }: World): ClaimTimes {
  const claimedAt = SUBMITTED_AT + aheadMs
  const deadlineAt = Math.max(claimedAt + RULES.toleranceMs + MINUTE, SUBMITTED_AT + MINUTE)
  return { claimedAt, deadlineAt, submittedAt: SUBMITTED_AT }
}

/** As a verifier tells it, by the table of what an observation says of the place's own log. */
function look(world: World, seenAt: Instant) {
  const facts = { pending: world.isPending ? 1 : 0 }
  const begun = world.stays.filter(({ from }) => from <= seenAt)
  const from = windowStart(claimOf(world))
  const isThere = begun.some(({ until }) => seenAt < until)
  const told =
    world.log === 'whole'
      ? {
          stays: begun
            .filter(({ until }) => until >= from)
            .map(({ from, until }) => ({
              appeared: { notBefore: from, notAfter: from },
              ...(until <= seenAt ? { removed: { notBefore: until, notAfter: until } } : {}),
            })),
        }
      : {}
  if (isThere) return { kind: 'present' as const, differs: [], facts, ...told }
  if (world.log === 'record' && begun.length === 0)
    return { kind: 'absent' as const, facts, mark: 'never_before' as const }
  const mark =
    world.log === 'record' || world.log === 'cut' || world.log === 'unread' ? { mark: 'may_have_been' as const } : {}
  return { kind: 'absent' as const, facts, ...told, ...mark }
}

/** Plays the service: checks when the schedule says, decides after each check, stops at the first decision. */
function judge(world: World) {
  const claim = claimOf(world)
  const checks: CheckRecord[] = []
  let trueNow = claim.submittedAt
  for (let index = 0; index < 200; index++) {
    const { step } = world
    const wrongMs = step && index >= step.at && index < step.at + step.for ? step.ms : 0
    const read = world.reads.next().value!
    const sent = Math.max(trueNow, nextCheck(RULES, claim, checks, CLOSING).at - wrongMs) + read.delayMs
    const answered = sent + read.tookMs
    trueNow = answered
    const [sentAt, answeredAt] = [sent + wrongMs, answered + wrongMs]
    checks.push(
      read.fails
        ? { sentAt, answeredAt, failure: { code: 'timeout' } }
        : {
            ...{ sentAt, answeredAt, dated: world.dated, ageMs: 0 },
            observation: look(world, sent + read.at * read.tookMs),
            clockOffsetMs: world.dated ? wrongMs + SECOND : 0,
          },
    )
    const decision = decide(RULES, claim, checks, answeredAt)
    if (decision) return { decision, checks, claim }
  }
  return undefined
}

const BLAME: ReadonlySet<string | undefined> = new Set(['failed', 'late', 'mismatch'])

/** It was there at a moment that the claim can mean. */
function wasInTime(world: World): boolean {
  const { claimedAt, submittedAt } = claimOf(world)
  const from = Math.min(claimedAt, submittedAt)
  return world.stays.some((stay) => stay.from <= claimedAt + RULES.toleranceMs && stay.until > from)
}

t.test('verified is said only of what was there by the end of the tolerance', async (t) => {
  holds(t, (world) => {
    if (judge(world)?.decision.verdict.value !== 'verified') return true
    return world.stays.some(({ from }) => from <= claimOf(world).claimedAt + RULES.toleranceMs)
  })
})

t.test('what was there in time is not blamed at a place with a log, read or not, whatever the clocks do', async (t) => {
  holds(t, (world) => {
    if (world.log === 'none' || !wasInTime(world)) return true
    // Where neither the destination nor a second clock tells the time, a step cannot be seen.
    if (world.step && !world.dated) return true
    const judged = judge(world)
    const reads = judged?.checks.filter(isRead) ?? []
    // Reads that are all made by the wrong clock agree: such a clock is for the host itself to see.
    if (reads.every(({ clockOffsetMs }) => clockOffsetMs > SECOND)) return true
    return !BLAME.has(judged?.decision.verdict.value)
  })
})

t.test('at a place without a log blame rests on a look just after a fresh submission', async (t) => {
  holds(t, (world) => {
    const judged = judge({ ...world, log: 'none', step: null })
    if (judged?.decision.verdict.value !== 'failed' || judged.decision.appeared) return true
    const { checks, claim } = judged
    const isFresh = claim.submittedAt - claim.claimedAt <= 10_000
    return isFresh && checks.some((check) => isRead(check) && check.sentAt - claim.submittedAt <= 5000)
  })
})

t.test('an outcome that no read shows is never blamed for being late', async (t) => {
  holds(t, (world) => {
    const judged = judge(world)
    return judged?.decision.verdict.value !== 'late' || judged.decision.appeared !== undefined
  })
})

t.test('a plain lie that our clients date ends in blame, with a log and without one', async (t) => {
  for (const log of ['none', 'whole'] as const) {
    holds(t, (world) => {
      const lie: World = { ...world, log, stays: [], aheadMs: 0, step: null, dated: true }
      const judged = judge(lie)
      const reads = judged?.checks.filter(isRead) ?? []
      // A place that could not be read in time blames nobody.
      const isRead5s = reads.some(({ sentAt }) => sentAt - SUBMITTED_AT <= 5000)
      const { deadlineAt } = claimOf(lie)
      const isReadAtEnd = reads.some(({ sentAt }) => sentAt >= deadlineAt && sentAt <= deadlineAt + CLOSING.closingMs)
      if (!isReadAtEnd || (log === 'none' && !isRead5s)) return true
      return judged?.decision.verdict.value === 'failed'
    })
  }
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
