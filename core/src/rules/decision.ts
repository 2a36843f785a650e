/** The order of the decision, which the versions of the rules share. What each decides in its own way is its `Version`, in its own file. */
import {
  type CheckRecord,
  type Instant,
  type Interval,
  isRead,
  markOf,
  type ReadRecord,
  showsOutcome,
} from '../evidence.ts'
import type { Rules } from '../profile.ts'
import {
  type ClaimTimes,
  type Closing,
  type Decision,
  FAILURE_REASONS,
  FINAL_FAILURES,
  type ReasonCode,
  type Verdict,
} from '../verdict.ts'
import { type Account, accountOf, type StaysOf } from './appearance.ts'
import { graceEnd, hasLooks, isApart, largestAge, seenIn, shownAt, toleranceEnd } from './moments.ts'

/** What a version of the rules decides in its own way. One that has signed receipts never changes. */
export interface Version {
  /** A clock that jumps by more between two reads of one claim makes them worthless for absence. Milliseconds. */
  readonly largestJumpMs: number
  /** Before a claim ends undecided, it gets this many looks that are made after its deadline. */
  readonly leastLooks: 1 | 2
  /** The stays that verify and bound. */
  believedStays(reads: readonly ReadRecord[]): StaysOf
  /** At a destination without a log: the looks leave no room for an outcome that came and went. */
  wasLookedFor(looks: Looks): boolean
  /** The room that they do leave. Milliseconds. */
  largestGapMs?(looks: Looks): number
}

/** The reads of a claim, and what says which of them tell something. */
export interface Looks {
  readonly rules: Pick<Rules, 'freshMs'>
  readonly claim: Pick<ClaimTimes, 'claimedAt' | 'submittedAt' | 'freshBy'>
  /** The checks that could read, oldest first. */
  readonly reads: readonly ReadRecord[]
  /** The end of the tolerance. */
  readonly inTimeUntil: Instant
}

/** The checks of a claim, with what several steps of the decision need of them. */
interface Case extends Looks {
  readonly version: Version
  readonly rules: Rules
  readonly claim: ClaimTimes
  readonly checks: readonly CheckRecord[]
  readonly last: CheckRecord
  readonly staysOf: StaysOf
  readonly account: Account
  /** No further check is worth waiting for. */
  readonly isOver: boolean
  /** The least number of looks was made after the deadline. */
  readonly wasLookedAtAgain: boolean
  /** The reads that show the state at the deadline or later. */
  readonly atDeadline: readonly ReadRecord[]
  readonly closingEnd: Instant
  /** Those of `atDeadline` on which an absence can rest. */
  readonly inClosing: readonly ReadRecord[]
}

/**
 * The verdict on a claim, or `undefined` while it is too early.
 *
 * @param checks every check so far, oldest first
 * @param now a time not before the last check's; it only ends the waiting, it never counts as evidence
 */
export function decideBy(
  version: Version,
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing,
): Decision | undefined {
  const last = checks.at(-1)
  if (last === undefined) return undefined
  if (!isRead(last) && FINAL_FAILURES.has(last.failure.code))
    return unverifiable(FAILURE_REASONS[last.failure.code], last)

  const it = caseOf(version, rules, claim, checks, last, now, closing)
  const { reads, account, isOver, wasLookedAtAgain, atDeadline, inClosing } = it
  const placed = placedInTime(it)
  if (placed?.verdict.value === 'verified') return placed
  const blame = placed ?? blamed(it)
  if (blame && isConfirmed(blame.basis as ReadRecord, reads)) return blame
  if (blame && !isOver) return undefined
  if (blame) return isContradicted(blame.basis, reads) ? unverifiable('claim_ambiguous', blame.basis) : unread(it)
  if (account.shownBy) {
    if (atDeadline.length === 0 && !isOver) return undefined
    return { ...unverifiable('claim_ambiguous', account.shownBy), ...shownInterval(account) }
  }
  const [closingRead] = atDeadline
  if (closingRead && inClosing.includes(closingRead)) return unverifiable('claim_ambiguous', closingRead)
  return isOver || (closingRead && wasLookedAtAgain) ? unread(it) : undefined
}

function caseOf(
  version: Version,
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  last: CheckRecord,
  now: Instant,
  closing: Closing,
): Case {
  const { deadlineAt, submittedAt } = claim
  const reads = checks.filter(isRead)
  const inTimeUntil = toleranceEnd(rules, claim)
  const staysOf = version.believedStays(reads)
  const window = {
    claimedAt: Math.min(claim.claimedAt, submittedAt),
    removedWithinMs: rules.removedWithinMs ?? 0,
    inTimeUntil,
  }
  const closingStart = deadlineAt + largestAge(rules, checks)
  const wasLookedAtAgain = hasLooks(checks, closingStart, version.leastLooks)
  const end = graceEnd(rules, claim, checks, closing)
  const isAskedToWait = !isRead(last) && (last.failure.retryAt ?? 0) > end
  const atDeadline = reads.filter((read) => shownAt(read) >= deadlineAt)
  const closingEnd = closingStart + closing.closingMs
  return {
    ...{ version, rules, claim, checks, last, reads, inTimeUntil, staysOf },
    account: accountOf(reads, window, staysOf),
    isOver: isAskedToWait || (now >= end && wasLookedAtAgain),
    wasLookedAtAgain,
    atDeadline,
    closingEnd,
    inClosing: atDeadline.filter(({ sentAt }) => sentAt <= closingEnd),
  }
}

/** It is, or was, there as claimed. */
function placedInTime(it: Case): Decision | undefined {
  const { rules, claim, reads, account, inTimeUntil } = it
  const { interval, shownBy, hasLog, isListed, mayHaveBeenInTime } = account
  if (!shownBy || interval === undefined || interval === 'contradictory') return undefined
  const verdict = placeInTime(interval, inTimeUntil, claim.deadlineAt)
  if (verdict === undefined || (verdict.value === 'late' && rules.neverLate)) return undefined
  const placed: Decision = { verdict, appeared: interval, basis: shownBy }
  if (verdict.value === 'verified') return placed
  // A log that can be read and does not list it yet may still say that it came in time.
  if (mayHaveBeenInTime || (hasLog && !isListed) || !isSteady(it)) return undefined
  // Nothing of it can have come and gone before the first read: the destination's record says so, or the looks do.
  if (reads.some((read) => saysSinceWhen(read, it))) return placed
  return it.version.wasLookedFor(it) ? withGap(placed, it) : undefined
}

/** Nothing shows it, and the evidence says that it was not there. */
function blamed(it: Case): Decision | undefined {
  const { rules, last, reads, account, atDeadline, inClosing } = it
  if (account.shownBy) return undefined
  if (markOf(last) === 'final') return blameBy(rules, last as ReadRecord)
  if (!isSteady(it)) return undefined
  const never = atDeadline.findLast((read) => markOf(read) === 'never_before')
  if (never) return blameBy(rules, never)
  if (reads.some((read) => markOf(read) === 'may_have_been')) return undefined
  const wasLookedFor = it.version.wasLookedFor(it)
  const telling = inClosing.filter(
    ({ observation: { stays, mark } }) => mark !== 'unsettled' && (stays !== undefined || wasLookedFor),
  )
  const basis = telling.find((read) => isConfirmed(read, reads)) ?? telling[0]
  if (!basis) return undefined
  const blame = blameBy(rules, basis)
  return basis.observation.stays === undefined ? withGap(blame, it) : blame
}

/** The verdict rests on the looks alone. */
function withGap(decision: Decision, it: Case): Decision {
  const largestGapMs = it.version.largestGapMs?.(it)
  return largestGapMs === undefined ? decision : { ...decision, largestGapMs }
}

function blameBy(rules: Rules, read: ReadRecord): Decision {
  const { observation } = read
  if (observation.kind === 'absent') return { verdict: { value: 'failed', reasonCode: 'not_found' }, basis: read }
  const isTarget = observation.differs.some((field) => rules.required[field] === 'target')
  const reasonCode = isTarget ? 'target_mismatch' : 'content_mismatch'
  return { verdict: { value: 'mismatch', reasonCode }, basis: read }
}

function shownInterval({ interval }: Account): { readonly appeared?: Interval } {
  return interval === undefined || interval === 'contradictory' ? {} : { appeared: interval }
}

/** No read says how it was at the deadline. */
function unread({ claim: { deadlineAt, submittedAt }, checks, last, closingEnd }: Case): Decision {
  if (submittedAt > closingEnd) return unverifiable('claim_ambiguous', last)
  const failed = checks.findLast(
    (check) => !isRead(check) && Math.max(check.answeredAt, check.failure.retryAt ?? 0) >= deadlineAt,
  )
  return failed && !isRead(failed)
    ? unverifiable(FAILURE_REASONS[failed.failure.code], failed)
    : unverifiable('verifier_error', last)
}

/** The destination's record says that it was not there before: by its mark, by a log that does not show it, or by a time since when it is there. */
function saysSinceWhen(read: ReadRecord, { staysOf }: Case): boolean {
  const { mark, stays } = read.observation
  if (mark === 'never_before' || stays === undefined) return mark === 'never_before'
  return !showsOutcome(read) || staysOf(read).some(({ appeared }) => appeared.notBefore !== undefined)
}

/** Neither the issuer's clock nor the destination's jumped between the reads. */
function isSteady({ reads, version }: Case): boolean {
  const offsets = reads.filter(({ dated }) => dated).map(({ clockOffsetMs, ageMs = 0 }) => ({ clockOffsetMs, ageMs }))
  const least = Math.min(...offsets.map(({ clockOffsetMs }) => clockOffsetMs))
  // A cache keeps the date of what it holds.
  return offsets.every(({ clockOffsetMs, ageMs }) => clockOffsetMs - ageMs - least <= version.largestJumpMs)
}

/** Another read saw the same. */
function isConfirmed(read: ReadRecord, reads: readonly ReadRecord[]): boolean {
  return reads.some((other) => isApart(other, read) && seenIn(other) === seenIn(read))
}

function isContradicted(basis: CheckRecord, reads: readonly ReadRecord[]): boolean {
  return reads.some((other) => isApart(other, basis))
}

/** The rows for an outcome that is there as claimed; `undefined` when its interval straddles a boundary. */
function placeInTime(
  { notBefore, notAfter }: Interval,
  inTimeUntil: Instant,
  deadlineAt: Instant,
): Verdict | undefined {
  if (notAfter <= inTimeUntil) return { value: 'verified' }
  if (notBefore === undefined) return undefined
  if (notBefore >= deadlineAt) return { value: 'failed', reasonCode: 'not_found' }
  if (notBefore >= inTimeUntil && notAfter < deadlineAt)
    return { value: 'late', reasonCode: 'observed_after_tolerance' }
  return undefined
}

function unverifiable(reasonCode: ReasonCode, basis: CheckRecord): Decision {
  return { verdict: { value: 'unverifiable', reasonCode }, basis }
}
