/** The order of the decision, which the versions of the rules share. The decisions that differ are a `Version`, in a file of its own. */
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

/** The decisions that a version of the rules makes in its own way. A version that has signed receipts never changes. */
export interface Version {
  /** Milliseconds by which a clock may jump between two reads of one claim, before they are worthless for absence. */
  readonly largestJumpMs: number
  /** The largest jump of a clock that the reads tell, besides what the size of the clocks' difference tells, in milliseconds. */
  jumpMs?(reads: readonly ReadRecord[]): number
  /** Number of looks after its deadline that a claim gets before it ends undecided. */
  readonly leastLooks: 1 | 2
  /** Selects the stays that are believed: those that verify an outcome and bound its time. */
  believedStays(reads: readonly ReadRecord[]): StaysOf
  /** Tells whether the looks leave no room for an outcome that came and went, at a destination without a log. */
  wasLookedFor(looks: Looks): boolean
  /** The largest room between looks for an outcome that came and went, in milliseconds. */
  largestGapMs?(looks: Looks): number
}

/** The reads of a claim, with what decides which of them tell something. */
export interface Looks {
  readonly rules: Pick<Rules, 'freshMs'>
  readonly claim: Pick<ClaimTimes, 'claimedAt' | 'submittedAt' | 'freshBy'>
  /** The checks that could read, oldest first. */
  readonly reads: readonly ReadRecord[]
  /** The last moment at which an outcome is in time: the end of the tolerance. */
  readonly inTimeUntil: Instant
}

/** The checks of a claim, with what several steps of the decision read of them. */
interface ClaimEvidence extends Looks {
  readonly version: Version
  readonly rules: Rules
  readonly claim: ClaimTimes
  readonly checks: readonly CheckRecord[]
  readonly last: CheckRecord
  readonly staysOf: StaysOf
  readonly account: Account
  /** Tells whether no further check is worth waiting for. */
  readonly isOver: boolean
  /** Tells whether the least number of looks was made after the deadline. */
  readonly wasLookedAtAgain: boolean
  /** The reads that show the state at the deadline or later. */
  readonly atDeadline: readonly ReadRecord[]
  readonly closingEnd: Instant
  /** The reads at the deadline that can prove absence. */
  readonly inClosing: readonly ReadRecord[]
}

/**
 * Decides a claim, or gives `undefined` while it is too early.
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

  const evidence = evidenceOf(version, rules, claim, checks, now, closing)
  const { account, isOver, wasLookedAtAgain, atDeadline, inClosing } = evidence
  const placed = placeInTime(evidence)
  if (placed?.verdict.value === 'verified') return placed
  const blame = placed ?? blameAbsence(evidence)
  if (blame) return confirmBlame(blame, evidence)
  if (account.shownBy) {
    if (atDeadline.length === 0 && !isOver) return undefined
    return { ...unverifiable('claim_ambiguous', account.shownBy), ...shownInterval(account) }
  }
  const [closingRead] = atDeadline
  if (closingRead && inClosing.includes(closingRead)) return unverifiable('claim_ambiguous', closingRead)
  return isOver || (closingRead && wasLookedAtAgain) ? unread(evidence) : undefined
}

/** Blames only where another read saw the same, and waits for one as long as it is worth evidence. */
function confirmBlame(blame: Decision, evidence: ClaimEvidence): Decision | undefined {
  const { reads, isOver } = evidence
  if (isConfirmed(blame.basis as ReadRecord, reads)) return blame
  if (!isOver) return undefined
  const isContradicted = reads.some((other) => isApart(other, blame.basis))
  return isContradicted ? unverifiable('claim_ambiguous', blame.basis) : unread(evidence)
}

function evidenceOf(
  version: Version,
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing,
): ClaimEvidence {
  const last = checks.at(-1)!
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

/** Decides an outcome that is, or was, there as claimed. */
function placeInTime(evidence: ClaimEvidence): Decision | undefined {
  const { rules, claim, reads, account, inTimeUntil } = evidence
  const { interval, shownBy, hasLog, isListed, mayHaveBeenInTime } = account
  if (!shownBy || interval === undefined || interval === 'contradictory') return undefined
  const verdict = verdictIn(interval, inTimeUntil, claim.deadlineAt)
  if (verdict === undefined || (verdict.value === 'late' && rules.neverLate)) return undefined
  const placed: Decision = { verdict, appeared: interval, basis: shownBy }
  if (verdict.value === 'verified') return placed
  // A log that can be read and does not list the outcome yet may still say that it came in time.
  if (mayHaveBeenInTime || (hasLog && !isListed) || !isSteady(evidence)) return undefined
  // Places the outcome where the destination's record, or the looks, say that it cannot have come and gone before the first read.
  if (reads.some((read) => saysSinceWhen(read, evidence))) return placed
  return evidence.version.wasLookedFor(evidence) ? withGap(placed, evidence) : undefined
}

/** Blames where nothing shows the outcome, and the evidence says that it was not there. */
function blameAbsence(evidence: ClaimEvidence): Decision | undefined {
  const { rules, last, reads, account, atDeadline, inClosing } = evidence
  if (account.shownBy) return undefined
  if (markOf(last) === 'final') return blameBy(rules, last as ReadRecord)
  if (!isSteady(evidence)) return undefined
  const never = atDeadline.findLast((read) => markOf(read) === 'never_before')
  if (never) return blameBy(rules, never)
  if (reads.some((read) => markOf(read) === 'may_have_been')) return undefined
  const wasLookedFor = evidence.version.wasLookedFor(evidence)
  const telling = inClosing.filter(
    ({ observation: { stays, mark } }) => mark !== 'unsettled' && (stays !== undefined || wasLookedFor),
  )
  const basis = telling.find((read) => isConfirmed(read, reads)) ?? telling[0]
  if (!basis) return undefined
  const blame = blameBy(rules, basis)
  return basis.observation.stays === undefined ? withGap(blame, evidence) : blame
}

/** Adds the largest gap to a verdict that rests on the looks alone. */
function withGap(decision: Decision, evidence: ClaimEvidence): Decision {
  const largestGapMs = evidence.version.largestGapMs?.(evidence)
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

/** Ends a claim of which no read shows the state at the deadline. */
function unread({ claim: { deadlineAt, submittedAt }, checks, last, closingEnd }: ClaimEvidence): Decision {
  if (submittedAt > closingEnd) return unverifiable('claim_ambiguous', last)
  const failed = checks.findLast(
    (check) => !isRead(check) && Math.max(check.answeredAt, check.failure.retryAt ?? 0) >= deadlineAt,
  )
  return failed && !isRead(failed)
    ? unverifiable(FAILURE_REASONS[failed.failure.code], failed)
    : unverifiable('verifier_error', last)
}

/**
 * Tells whether the destination's record says that the outcome was not there before: by its mark, a log that does not show it, or a time of its
 * beginning.
 */
function saysSinceWhen(read: ReadRecord, { staysOf }: ClaimEvidence): boolean {
  const { mark, stays } = read.observation
  if (mark === 'never_before' || stays === undefined) return mark === 'never_before'
  return !showsOutcome(read) || staysOf(read).some(({ appeared }) => appeared.notBefore !== undefined)
}

/** Tells whether neither the issuer's clock nor the destination's jumped between the reads. */
function isSteady({ reads, version }: ClaimEvidence): boolean {
  const offsets = reads.filter(({ dated }) => dated).map(({ clockOffsetMs, ageMs = 0 }) => ({ clockOffsetMs, ageMs }))
  const least = Math.min(...offsets.map(({ clockOffsetMs }) => clockOffsetMs))
  if ((version.jumpMs?.(reads) ?? 0) > version.largestJumpMs) return false
  // A cache repeats the date of the answer that it holds.
  return offsets.every(({ clockOffsetMs, ageMs }) => clockOffsetMs - ageMs - least <= version.largestJumpMs)
}

/** Tells whether another read agrees with this one. */
function isConfirmed(read: ReadRecord, reads: readonly ReadRecord[]): boolean {
  return reads.some((other) => isApart(other, read) && seenIn(other) === seenIn(read))
}

/** The verdict on an outcome that is there as claimed; `undefined` if its interval straddles a boundary. */
function verdictIn({ notBefore, notAfter }: Interval, inTimeUntil: Instant, deadlineAt: Instant): Verdict | undefined {
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
