/** Schedules the checks of a claim: at growing gaps, and around each moment that decides. */
import { type CheckRecord, type Instant, isRead, markOf, showsOutcome } from './evidence.ts'
import type { Rules } from './profile.ts'
import { CONFIRMATION_MS, graceEnd, largestAge, toleranceEnd } from './rules/moments.ts'
import { mayStillBlame } from './rules/v2.ts'
import type { ClaimTimes, Closing } from './verdict.ts'

/** Gap before the second read, which comes soon because blame needs two. */
const FIRST_GAP_MS = CONFIRMATION_MS
const GAP_FACTOR = 2.5
const LONGEST_GAP_MS = 5 * 60_000
/** Gaps while something is under way, by how long that lasts at most. */
const CLOSE_GAPS = [
  { untilMs: 3 * 60_000, gapMs: 12_000 },
  { untilMs: 10 * 60_000, gapMs: 18_000 },
]
/** Gap while what takes longer has to settle, or can be blamed by looks alone. */
const CLOSE_GAP_MS = 18_000
/** Part of the time that something takes which its end may go unseen: what takes long ends within a gap that is short against it. */
const UNSEEN_PART = 1 / 30
/** Gap after the tolerance, when the end of what is under way can be no more than late. */
const LATE_GAP_MS = 2 * 60_000
/** Longest gap of the first hour. */
const LONGEST_CLOSE_GAP_MS = 40_000
const HOUR_MS = 60 * 60_000
/** Gap by which a minute that has to be quiet ends by the third look. */
const SETTLING_GAP_MS = 20_200
/** Gap between the sendings of looks on whose gaps blame rests: half of the largest gap, so that one look may fail or take long. */
const WATCH_GAP_MS = 15_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 15_000
const SHORTEST_LEAD_MS = 500
const LONGEST_LEAD_MS = 10_000
/** Lead of a first look before a deciding moment, so that a short fault around the moment itself does not hide everything. */
const EARLY_LEAD_MS = 5_000
/** Distance from a deciding moment within which a failed check is made again within a second or two. */
const NEAR_MS = 10_000
const NEAR_RETRY_MS = 1_000

export interface NextCheck {
  /** The time of the check. A time in the past means at once. */
  readonly at: Instant
  /** The moment from which a check of this claim decides, or repeats one that was to decide. It goes before checks that only look. */
  readonly momentAt: Instant
}

/**
 * The next check of a claim that is not decided yet. Checks beside the schedule do not count: who can cause them must not move a look.
 *
 * @param isWatched looks of this claim may come every 15 s until the end of its tolerance, where without them a lie cannot be blamed
 */
export function nextCheck(
  rules: Rules,
  claim: ClaimTimes,
  recorded: readonly CheckRecord[],
  closing: Closing,
  isWatched = true,
): NextCheck {
  const checks = recorded.filter(({ hinted }) => !hinted)
  const last = checks.at(-1)
  const moments = decidingMoments(rules, claim, checks)
  if (!last)
    return { at: claim.submittedAt, momentAt: Math.max(claim.submittedAt, firstAfter(claim.submittedAt, moments)) }
  const retryAt = isRead(last) ? 0 : (last.failure.retryAt ?? 0)

  const closingStart = moments.at(-1)!
  if (last.sentAt >= closingStart) {
    const tries = checks.filter((check) => check.sentAt >= closingStart).length
    // The end until which the verdict waits goes by all checks: otherwise failures after it would be looked at every two seconds.
    const end = graceEnd(rules, claim, recorded, closing)
    const momentAt = Math.max(claim.submittedAt, closingStart)
    // The time of a claim that is over ends with one look more, which decides it.
    if (last.answeredAt >= end) return { at: Math.max(retryAt, last.sentAt + CONFIRMATION_MS), momentAt }
    const again = isPoison(checks) ? end : last.answeredAt + growing(FIRST_RETRY_MS, 2, LONGEST_RETRY_MS, tries)
    return { at: Math.max(retryAt, Math.min(again, end)), momentAt }
  }

  const momentAt = firstAfter(last.sentAt, moments)
  // A poisonous claim is read at deciding moments only: each try costs all other claims of the plugin a start of its process.
  if (isPoison(checks)) return { at: Math.max(retryAt, momentAt), momentAt }
  if (!isRead(last) && isNearMoment(last, rules, claim)) {
    const again = Math.min(last.answeredAt + NEAR_RETRY_MS, momentAt)
    return { at: Math.max(retryAt, again), momentAt: again }
  }
  const usual = last.answeredAt + regularGap(rules, claim, checks, last)
  // A look at what is under way comes as often without this.
  const isClose = isWatched && !isUnderWay(last, rules) && mayStillBlame(rules, claim, checks)
  const regular = isClose ? Math.min(usual, watchAt(checks, last)) : usual
  return { at: Math.max(retryAt, Math.min(regular, momentAt)), momentAt }
}

/**
 * The time by which the verdict of a claim is to be expected, at the latest: the end of its closing read, and where the destination could not be read
 * last, the end of the tries. What is there is found at an earlier check.
 *
 * @param last the last check, if there was one
 */
export function expectedBy(
  rules: Pick<Rules, 'ageMs'>,
  claim: ClaimTimes,
  last: CheckRecord | null,
  closing: Closing,
): Instant {
  const checks = last ? [last] : []
  if (last && !isRead(last)) return Math.max(graceEnd(rules, claim, checks, closing), last.failure.retryAt ?? 0)
  return Math.max(claim.deadlineAt + largestAge(rules, checks), claim.submittedAt) + closing.closingMs
}

function regularGap(rules: Rules, claim: ClaimTimes, checks: readonly CheckRecord[], last: CheckRecord): number {
  // A final mark lacks only a second look that confirms it, which comes soon.
  if (markOf(last) === 'final' && markOf(checks.at(-2)) !== 'final') return FIRST_GAP_MS
  // An unsettled outcome lacks nothing but time.
  if (isUnderWay(last, rules)) {
    if (markOf(last) === 'unsettled') return SETTLING_GAP_MS
    if (last.answeredAt >= toleranceEnd(rules, claim)) return LATE_GAP_MS
    const staysClose = isTold(last, rules.settles) || mayStillBlame(rules, claim, checks)
    return closeGap(last.answeredAt - claim.submittedAt, staysClose)
  }
  return growing(FIRST_GAP_MS, GAP_FACTOR, LONGEST_GAP_MS, checks.length)
}

/** The time of the next look of a claim that is watched. A failed look is made again before the gap becomes too large. */
function watchAt(checks: readonly CheckRecord[], last: CheckRecord): Instant {
  if (isRead(last)) return Math.max(last.answeredAt, last.sentAt + WATCH_GAP_MS)
  const failures = checks.length - 1 - checks.findLastIndex(isRead)
  return last.answeredAt + growing(FIRST_RETRY_MS, 2, WATCH_GAP_MS, failures)
}

/** Tells whether the destination says that something is under way, by the fact that the profile names. */
function isUnderWay(last: CheckRecord, { underWay }: Rules): boolean {
  return isTold(last, underWay)
}

/** Tells whether a fact is true or above 0. */
function isTold(last: CheckRecord, name: string | undefined): boolean {
  const fact = name !== undefined && isRead(last) && last.observation.facts[name]
  return fact === true || (typeof fact === 'number' && fact > 0)
}

function closeGap(waitedMs: number, staysClose: boolean): number {
  const close = CLOSE_GAPS.find(({ untilMs }) => waitedMs <= untilMs)
  if (close) return close.gapMs
  if (waitedMs > HOUR_MS) return Math.min(Math.max(LONGEST_CLOSE_GAP_MS, Math.round(waitedMs / 120)), LONGEST_GAP_MS)
  return staysClose ? CLOSE_GAP_MS : Math.min(Math.round(waitedMs * UNSEEN_PART), LONGEST_CLOSE_GAP_MS)
}

/** Tells whether two checks of the claim ended their plugin's process, so that it is read again only where that decides. */
function isPoison(checks: readonly CheckRecord[]): boolean {
  return checks.filter((check) => !isRead(check) && check.failure.endedProcess === true).length >= 2
}

function isNearMoment(last: CheckRecord, rules: Rules, claim: ClaimTimes): boolean {
  const moments = [toleranceEnd(rules, claim), claim.deadlineAt]
  return moments.some((moment) => Math.abs(last.answeredAt - moment) <= NEAR_MS)
}

/** The first moment after a time, or the last moment if all are over. */
function firstAfter(time: Instant, moments: readonly Instant[]): Instant {
  const later = moments.filter((moment) => moment > time)
  return later.length > 0 ? Math.min(...later) : moments.at(-1)!
}

/**
 * The moments whose state decides: the end of the tolerance and the deadline. The last check before a moment is early enough to be
 * answered before it, so that presence counts as in time; the one after it comes at once, so that absence counts.
 */
function decidingMoments(rules: Rules, claim: ClaimTimes, checks: readonly CheckRecord[]): Instant[] {
  const ageMs = largestAge(rules, checks)
  const closingStart = claim.deadlineAt + ageMs
  // Once the outcome was shown, what the log may still list, and the closing read, are all that can decide.
  if (checks.some(showsOutcome)) return [closingStart]
  const slowest = Math.max(0, ...checks.map((check) => check.answeredAt - check.sentAt))
  const lead = Math.min(Math.max(2 * slowest, SHORTEST_LEAD_MS), LONGEST_LEAD_MS)
  const inTimeUntil = toleranceEnd(rules, claim)
  return [
    inTimeUntil - lead - EARLY_LEAD_MS,
    inTimeUntil - lead,
    inTimeUntil + ageMs,
    claim.deadlineAt - lead,
    closingStart,
  ]
}

function growing(first: number, factor: number, longest: number, count: number): number {
  return Math.min(Math.round(first * factor ** Math.min(count - 1, 40)), longest)
}
