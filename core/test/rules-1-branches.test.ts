/**
 * What holds for every verdict, in simulated worlds of branches: with logs that lag or are written after the fact, stale replicas, and branches
 * that are merged and deleted. Threat D2 of `security.md`.
 */
import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  decide,
  type Instant,
  isRead,
  type Mark,
  nextCheck,
  type Rules,
  type Stay,
} from '@claimcheck/core/rules'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { runs } from '../../test/support/extent.ts'

const RUNS = 6000
const HOUR = 3_600_000
const SECOND = 1000

function holds(t: Test, predicate: (world: World) => boolean, worlds = worldArb): void {
  t.doesNotThrow(() => fc.assert(fc.property(worlds, predicate), runs(RUNS)))
}

const CLAIMED_AT = 100 * HOUR
const RULES: Rules = {
  rulesVersion: 1,
  required: { branch: 'target', sha: 'content' },
  toleranceMs: 60 * SECOND,
  removedWithinMs: 24 * HOUR,
}
const L = CLAIMED_AT + RULES.toleranceMs
const D = L + 60 * SECOND
const WINDOW_START = CLAIMED_AT - 24 * HOUR

/** A time in which the commit was on the branch. */
interface TrueStay {
  readonly from: Instant
  readonly until: Instant
  /** It ended with the branch itself. */
  readonly whole: boolean
}

const longAgo = fc.integer({ min: CLAIMED_AT - 60 * HOUR, max: CLAIMED_AT })
const around = fc.integer({ min: CLAIMED_AT - 120 * SECOND, max: D + 60 * SECOND })
const moment = fc.oneof({ weight: 1, arbitrary: longAgo }, { weight: 4, arbitrary: around })

const staysArb = fc
  .tuple(fc.uniqueArray(moment, { maxLength: 5 }), fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), fc.boolean())
  .map(([moments, wholes, lasts]): TrueStay[] => {
    const times = [...moments].sort((a, b) => a - b)
    const stays: TrueStay[] = []
    for (let index = 0; index < times.length; index += 2) {
      const until = times[index + 1] ?? (lasts ? Number.POSITIVE_INFINITY : times[index]! + SECOND)
      stays.push({ from: times[index]!, until, whole: wholes[index / 2] ?? false })
    }
    return stays
  })

/** A place whose history is known, and which is read now and then by somebody who may fail. */
const worldArb = fc.record({
  stays: staysArb,
  /** Whether the commit is on another branch, too. */
  elsewhere: fc.boolean(),
  log: fc.constantFrom('none', 'none', 'exact', 'exact', 'after_the_fact'),
  /** How long after a push its entry is listed. */
  logLagMs: fc.constantFrom(0, 0, 3 * SECOND, 20 * SECOND),
  /** The place tells whether it knows the commit at all. */
  tellsKnown: fc.boolean(),
  keepsObjects: fc.boolean(),
  ageMs: fc.constantFrom(0, 0, 10 * SECOND),
  clockOffset: fc.integer({ min: -8 * SECOND, max: 8 * SECOND }),
  dated: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
  submittedAfterMs: fc.oneof(fc.integer({ min: 0, max: 4 * SECOND }), fc.integer({ min: 0, max: 300 * SECOND })),
  reads: fc.infiniteStream(
    fc.record({
      delayMs: fc.constantFrom(0, 0, 0, 200, 40 * SECOND),
      tookMs: fc.integer({ min: 1, max: 3000 }),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      stale: fc.double({ min: 0, max: 1, noNaN: true }),
      fails: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    }),
  ),
})
type World = typeof worldArb extends fc.Arbitrary<infer W> ? W : never

function claimOf({ submittedAfterMs }: World): ClaimTimes {
  return { claimedAt: CLAIMED_AT, deadlineAt: D, submittedAt: CLAIMED_AT + submittedAfterMs }
}

/** What the log lists at this moment, by the place's own clock. */
function listedStays(world: World, at: Instant): Stay[] {
  const listed = (moment: Instant) => moment + world.logLagMs <= at
  const second = (moment: Instant) => {
    const from = Math.floor((moment + world.clockOffset) / SECOND) * SECOND
    const until = { notAfter: from + 999 }
    return world.log === 'exact' ? { notBefore: from, ...until } : until
  }
  return world.stays
    .filter(({ from }) => listed(from))
    .map(({ from, until, whole }) => ({
      appeared: second(from),
      ...(listed(until) ? { removed: second(until), removedWhole: whole } : {}),
    }))
}

const isThere = ({ stays }: World, at: Instant) => stays.some(({ from, until }) => from <= at && at < until)

/** As a verifier reads such a place: see the rules for places that forget in the codehost plugin. */
function look(world: World, seenAt: Instant, checks: readonly CheckRecord[]) {
  const stays = world.log === 'none' ? undefined : listedStays(world, seenAt)
  const told = stays ? { stays } : {}
  const before = world.stays.filter(({ from }) => from <= seenAt)
  const head = before.filter(({ until }) => until <= seenAt).length
  const branchListed = !before.some(({ until, whole }, index) => {
    return whole && until <= seenAt && !before[index + 1]
  })
  const facts = { head, branch_listed: branchListed }
  if (isThere(world, seenAt)) return { kind: 'present' as const, differs: [], facts, ...told }

  const isComplete = world.stays.every(({ from, until }) =>
    [from, until].every((moment) => moment > seenAt || moment + world.logLagMs <= seenAt),
  )
  const remembered = before.some(({ until }) => until + 20 * SECOND >= WINDOW_START)
  const markOf = (): Mark | undefined => {
    if (stays && isComplete) return remembered ? undefined : 'never_before'
    const isKnown = world.tellsKnown ? before.length > 0 || world.elsewhere : undefined
    if (isKnown === false && world.keepsObjects) return 'never_before'
    const reads = checks.filter(isRead)
    const last = reads.at(-1)?.observation.facts
    const isRewritten = last !== undefined && last.head !== head
    const isForgotten =
      !branchListed ||
      reads.some(({ observation }) => observation.facts.branch_listed === false) ||
      (!world.elsewhere && isKnown === true) ||
      isRewritten
    return isForgotten ? 'may_have_been' : undefined
  }
  const mark = markOf()
  const marked = mark ? { mark } : {}
  return world.elsewhere
    ? { kind: 'present' as const, differs: ['branch'], facts, ...told, ...marked }
    : { kind: 'absent' as const, facts, ...told, ...marked }
}

/** Plays the service: checks when the schedule says, decides after each check, stops at the first decision. */
function judge(world: World) {
  const claim = claimOf(world)
  const checks: CheckRecord[] = []
  let now = claim.submittedAt
  for (let step = 0; step < 100; step++) {
    const read = world.reads.next().value!
    const sentAt = Math.max(now, nextCheck(RULES, claim, checks, CLOSING).at) + read.delayMs
    const answeredAt = sentAt + read.tookMs
    now = answeredAt
    const seenAt = sentAt + read.at * read.tookMs - read.stale * world.ageMs
    checks.push(
      read.fails
        ? { sentAt, answeredAt, failure: { code: 'timeout' } }
        : {
            sentAt,
            answeredAt,
            observation: look(world, seenAt, checks),
            clockOffsetMs: world.dated ? Math.abs(world.clockOffset) + SECOND : 0,
            dated: world.dated,
            ageMs: world.ageMs,
          },
    )
    const decision = decide(RULES, claim, checks, now)
    if (decision) return { decision, checks }
  }
  return undefined
}

/** It was on the branch at a moment that the claim can mean. */
const wasInTime = ({ stays }: World) =>
  stays.some(({ from, until, whole }) => from <= L && (until > CLAIMED_AT || (whole && from >= WINDOW_START)))

/**
 * The one thing that a place without a log may hide: the commit came and went without a trace, all of it between two reads or
 * before the first, while the commit also is on a branch that stays, or the place does not tell what it knows.
 */
const mayHide = (world: World) => (world.log === 'none' || world.logLagMs > 0) && (world.elsewhere || !world.tellsKnown)

t.test('verified is never said of what was not on the branch by the end of the tolerance', async (t) => {
  holds(t, (world) => {
    if (judge(world)?.decision.verdict.value !== 'verified') return true
    return world.stays.some(({ from }) => from <= L)
  })
})

t.test('what was there in time is never blamed, but where a place without a log hides it', async (t) => {
  holds(t, (world) => {
    const value = judge(world)?.decision.verdict.value
    if (value === undefined || value === 'verified' || value === 'unverifiable') return true
    return !wasInTime(world) || mayHide(world)
  })
})

t.test('late is said only of what came after the tolerance and before the deadline', async (t) => {
  holds(t, (world) => {
    if (judge(world)?.decision.verdict.value !== 'late' || mayHide(world)) return true
    return !wasInTime(world) && world.stays.some(({ from }) => from >= L && from < D)
  })
})

t.test('blame rests on two successful reads that are two seconds apart', async (t) => {
  holds(t, (world) => {
    const judged = judge(world)
    if (!judged || ['verified', 'unverifiable'].includes(judged.decision.verdict.value)) return true
    const reads = judged.checks.filter(isRead)
    return (
      reads.includes(judged.decision.basis as never) &&
      reads.some((read) => Math.abs(read.sentAt - judged.decision.basis.sentAt) >= 2000)
    )
  })
})

t.test('every world is decided in the end, by each of the five verdicts', async (t) => {
  const seen = new Set<string>()
  holds(t, (world) => {
    const judged = judge(world)
    if (judged) seen.add(judged.decision.verdict.value)
    return judged !== undefined
  })
  t.strictSame([...seen].sort(), ['failed', 'late', 'mismatch', 'unverifiable', 'verified'])
})

t.test('the same checks give the same verdict, and their copy in JSON does too', async (t) => {
  holds(t, (world) => {
    const judged = judge(world)
    if (!judged) return true
    const { checks, decision } = judged
    const copy: CheckRecord[] = JSON.parse(JSON.stringify(checks))
    const again = decide(RULES, claimOf(world), copy, checks.at(-1)!.answeredAt)
    return JSON.stringify(again) === JSON.stringify(decision)
  })
})

t.test('an honest push at a place with an exact log and a clock is verified, whatever replicas do', async (t) => {
  const honest = worldArb.map(
    (world): World => ({
      ...world,
      log: 'exact',
      dated: true,
      stays: [{ from: CLAIMED_AT - 5 * SECOND, until: Number.POSITIVE_INFINITY, whole: false }],
    }),
  )
  holds(
    t,
    (world) => {
      const judged = judge(world)
      const failed = judged?.checks.some((check) => !isRead(check)) ?? true
      return failed || judged!.decision.verdict.value === 'verified'
    },
    honest,
  )
})
