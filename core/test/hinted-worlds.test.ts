// Test run: slow
/**
 * Looks beside the schedule, which anybody may cause who makes a destination send hints: in simulated worlds they bring verdicts forward, and neither
 * blame nor keep from blame what they did not see.
 */
import {
  type CheckRecord,
  CLOSING,
  type ClaimTimes,
  decide,
  freshnessOf,
  hintedRecord,
  type Instant,
  isRead,
  nextCheck,
  type ReadRecord,
  type Rules,
} from '@claimcheck/core/rules'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { runs } from '../../test/support/extent.ts'

const RUNS = 3000
const SECOND = 1000
const MINUTE = 60 * SECOND

function holds(t: Test, predicate: (world: World) => boolean): void {
  t.doesNotThrow(() => fc.assert(fc.property(worldArb, predicate), runs(RUNS)))
}

const SUBMITTED_AT = 100 * 60 * MINUTE
const RULES: Rules = { rulesVersion: 2, required: { state: 'content' }, toleranceMs: 4 * MINUTE }
const CLAIM: ClaimTimes = {
  claimedAt: SUBMITTED_AT,
  submittedAt: SUBMITTED_AT,
  deadlineAt: SUBMITTED_AT + 6 * MINUTE,
  freshBy: freshnessOf(RULES, { claimedAt: SUBMITTED_AT, submittedAt: SUBMITTED_AT }),
}

const during = fc.integer({ min: -20 * SECOND, max: 7 * MINUTE }).map((ms) => SUBMITTED_AT + ms)
const readArb = fc.record({
  tookMs: fc.integer({ min: 1, max: 1500 }),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  fails: fc.integer({ min: 0, max: 6 }).map((n) => n === 0),
  ageMs: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 2 * SECOND, 40 * SECOND),
  /** The mark of a read that does not show the outcome. */
  mark: fc.constantFrom(undefined, undefined, undefined, 'may_have_been' as const),
})
const readsArb = fc.array(readArb, { minLength: 60, maxLength: 60 })

const worldArb = fc.record({
  /** The times in which the outcome was there. */
  stays: fc.oneof(fc.constant([]), fc.uniqueArray(during, { maxLength: 4 })).map((moments) => {
    const times = moments.toSorted((one, other) => one - other)
    return times.flatMap((from, index) =>
      index % 2 === 0 ? [{ from, until: times[index + 1] ?? Number.POSITIVE_INFINITY }] : [],
    )
  }),
  hasLog: fc.boolean(),
  /** True for a place that shows something else than was claimed. */
  isOther: fc.boolean(),
  isFinal: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  isWatched: fc.constantFrom(true, true, false),
  ageMs: fc.constantFrom(0, 0, 2 * SECOND),
  reads: readsArb,
  hints: fc.array(during, { minLength: 20, maxLength: 80 }).map((times) => times.toSorted((one, other) => one - other)),
  hintedReads: readsArb,
})
type World = typeof worldArb extends fc.Arbitrary<infer W> ? W : never
type Read = World['reads'][number]

function isThere({ stays }: World, at: Instant): boolean {
  return stays.some(({ from, until }) => from <= at && at < until)
}

function check(world: World, read: Read, sentAt: Instant): CheckRecord {
  const answeredAt = sentAt + read.tookMs
  if (read.fails) return { sentAt, answeredAt, failure: { code: 'timeout' } }
  const seenAt = sentAt + read.at * read.tookMs
  const stays = world.stays
    .filter(({ from }) => from <= seenAt)
    .map(({ from, until }) => ({
      appeared: { notBefore: from, notAfter: from },
      ...(until <= seenAt ? { removed: { notBefore: until, notAfter: until } } : {}),
    }))
  const told = { facts: {}, ...(world.hasLog ? { stays } : {}) }
  // Nothing is final where the outcome comes and goes.
  const mark = world.isFinal && world.stays.length === 0 ? ('final' as const) : read.mark
  const marked = { ...told, ...(mark && { mark }) }
  const times = { sentAt, answeredAt, dated: true, ageMs: Math.max(world.ageMs, read.ageMs), clockOffsetMs: SECOND }
  if (isThere(world, seenAt)) return { ...times, observation: { kind: 'present', differs: [], ...told } }
  return world.isOther
    ? { ...times, observation: { kind: 'present', differs: ['state'], ...marked } }
    : { ...times, observation: { kind: 'absent', ...marked } }
}

/** Tells whether a read shows the outcome, or its log does. */
function tells({ observation }: ReadRecord): boolean {
  const isShown = observation.kind === 'present' && observation.differs.length === 0
  return isShown || (observation.stays ?? []).length > 0
}

/** Plays the service, with looks on hints while the next look of the schedule is far enough. */
function judge(world: World, hints: readonly Instant[]) {
  const checks: CheckRecord[] = []
  const shown: ReadRecord[] = []
  let now = SUBMITTED_AT
  let [own, hinted] = [0, 0]
  while (own < 200) {
    const { at } = nextCheck(RULES, CLAIM, checks, CLOSING, world.isWatched)
    const ownAt = Math.max(now, at)
    const next = hints.slice(hinted).findIndex((time) => time > now)
    const hintAt = next < 0 ? undefined : hints[hinted + next]!
    const isHint = own > 0 && hintAt !== undefined && hintAt + 2 * SECOND < ownAt
    const sentAt = isHint ? hintAt : ownAt
    const seen = isHint
      ? check(world, world.hintedReads[hinted++ % 60]!, sentAt)
      : check(world, world.reads[own++ % 60]!, sentAt)
    if (!isHint) now = seen.answeredAt
    const onHint = isRead(seen) ? hintedRecord(CLAIM, seen) : undefined
    const record = isHint ? onHint : seen
    if (isHint && isRead(seen) && tells(seen)) shown.push(seen)
    if (!record) continue
    checks.push(record)
    const decision = decide(RULES, CLAIM, checks, record.answeredAt)
    if (decision) return { decision, checks, shown, decidedAt: record.answeredAt }
  }
  throw new Error('it is never decided')
}

const BLAME: ReadonlySet<string> = new Set(['failed', 'mismatch', 'late'])
const verdictOf = ({ decision }: ReturnType<typeof judge>) => decision.verdict.value

t.test(
  'blame comes at the same moment with hints and without, unless a look on a hint showed the outcome',
  async (t) => {
    const seen = { blamed: 0 }
    holds(t, (world) => {
      const [without, withHints] = [judge(world, []), judge(world, world.hints)]
      if (withHints.shown.length > 0) return true
      if (!BLAME.has(verdictOf(without))) return !BLAME.has(verdictOf(withHints))
      seen.blamed++
      return verdictOf(withHints) === verdictOf(without) && withHints.decidedAt === without.decidedAt
    })
    t.ok(seen.blamed > 50, JSON.stringify(seen))
  },
)

t.test('looks on hints blame nobody whom the schedule alone does not blame', async (t) => {
  holds(t, (world) => {
    const value = verdictOf(judge(world, world.hints))
    return (value !== 'failed' && value !== 'mismatch') || BLAME.has(verdictOf(judge(world, [])))
  })
})

t.test('looks on hints verify only what was there in time, and sooner than the schedule', async (t) => {
  let sooner = 0
  holds(t, (world) => {
    const [without, withHints] = [judge(world, []), judge(world, world.hints)]
    if (verdictOf(withHints) === 'verified') {
      if (!world.stays.some(({ from }) => from <= CLAIM.claimedAt + RULES.toleranceMs)) return false
      if (withHints.decidedAt < without.decidedAt) sooner++
    }
    return verdictOf(without) !== 'verified' || withHints.decidedAt <= without.decidedAt
  })
  t.ok(sooner > 50, `${sooner} sooner`)
})

t.test('no look of the schedule is moved by a thousand looks on hints', async (t) => {
  holds(t, (world) => {
    const own = judge({ ...world, stays: [] }, []).checks
    const read = { sentAt: 0, answeredAt: 0, clockOffsetMs: 0, observation: { kind: 'absent', facts: {} } } as const
    return own.every((_, index) => {
      const upTo = own.slice(0, index + 1)
      const last = upTo.at(-1)!
      const hinted = Array.from({ length: 1000 }, (): CheckRecord => {
        return { ...read, sentAt: last.answeredAt, answeredAt: last.answeredAt, hinted: true }
      })
      const next = nextCheck(RULES, CLAIM, [...upTo, ...hinted], CLOSING)
      const planned = nextCheck(RULES, CLAIM, upTo, CLOSING)
      return next.at === planned.at && next.momentAt === planned.momentAt
    })
  })
})
