/**
 * Verdict rules, version 1. Fail toward unverifiable, never toward verified; blame only on evidence: the destination's log, read back past
 * the window's start, or, without a log, a read just after the submission. Two reads that agree blame, one never does.
 */
import {
  type CheckRecord,
  type Instant,
  type Interval,
  isRead,
  markOf,
  type ReadRecord,
  showsOutcome,
} from '../evidence.ts'
import { FRESH_MS, type Rules } from '../profile.ts'
import {
  type ClaimTimes,
  type Closing,
  type Decision,
  FAILURE_REASONS,
  FINAL_FAILURES,
  type ReasonCode,
  type Verdict,
} from '../verdict.ts'
import { type Account, accountOf } from './appearance.ts'
import { CONFIRMATION_MS, graceEnd, largestAge, toleranceEnd } from './moments.ts'

/** A read this soon after the submission of a fresh claim leaves no room for an outcome that came and went before it. Milliseconds. */
const PROMPT_MS = 5000

/** A clock that jumps by more between two reads of one claim makes them worthless for absence. Milliseconds. */
const LARGEST_JUMP_MS = 60_000

/** The checks of a claim, with what several steps of the decision need of them. */
interface Case {
  readonly rules: Rules
  readonly claim: ClaimTimes
  readonly checks: readonly CheckRecord[]
  readonly last: CheckRecord
  /** The checks that could read, oldest first. */
  readonly reads: readonly ReadRecord[]
  readonly account: Account
  readonly inTimeUntil: Instant
  /** No further check is worth waiting for. */
  readonly isOver: boolean
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
export function decideByRules1(
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

  const it = caseOf(rules, claim, checks, last, now, closing)
  const { reads, account, isOver, atDeadline, inClosing } = it
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
  if (closingRead) return inClosing.includes(closingRead) ? unverifiable('claim_ambiguous', closingRead) : unread(it)
  return isOver ? unread(it) : undefined
}

function caseOf(
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
  const account = accountOf(reads, {
    claimedAt: Math.min(claim.claimedAt, submittedAt),
    removedWithinMs: rules.removedWithinMs ?? 0,
    inTimeUntil,
  })
  const end = graceEnd(rules, claim, checks, closing)
  const isOver = now >= end || (!isRead(last) && (last.failure.retryAt ?? 0) > end)
  const atDeadline = reads.filter((read) => shownAt(read) >= deadlineAt)
  const closingEnd = deadlineAt + largestAge(rules, checks) + closing.closingMs
  const inClosing = atDeadline.filter(({ sentAt }) => sentAt <= closingEnd)
  return { rules, claim, checks, last, reads, account, inTimeUntil, isOver, atDeadline, closingEnd, inClosing }
}

/** It is, or was, there as claimed. */
function placedInTime(it: Case): Decision | undefined {
  const { rules, claim, reads, account, inTimeUntil } = it
  const { interval, shownBy, hasLog, isListed, mayHaveBeenInTime } = account
  if (!shownBy || interval === undefined || interval === 'contradictory') return undefined
  const verdict = placeInTime(interval, inTimeUntil, claim.deadlineAt)
  if (verdict?.value === 'late' && rules.neverLate) return undefined
  // A log that can be read and does not list it yet may still say that it came in time.
  const isOpen = mayHaveBeenInTime || (hasLog && !isListed) || !isSteady(reads) || !isFollowed(it)
  return verdict && (verdict.value === 'verified' || !isOpen)
    ? { verdict, appeared: interval, basis: shownBy }
    : undefined
}

/** Nothing of it can have come and gone before the first read: the destination's record says so, or the read came just after the submission. */
function isFollowed(it: Case): boolean {
  return wasLookedFor(it) || it.reads.some(saysSinceWhen)
}

/** Nothing shows it, and the evidence says that it was not there. */
function blamed(it: Case): Decision | undefined {
  const { rules, last, reads, account, atDeadline, inClosing } = it
  if (account.shownBy) return undefined
  if (markOf(last) === 'final') return blameBy(rules, last as ReadRecord)
  if (!isSteady(reads)) return undefined
  const never = atDeadline.findLast((read) => markOf(read) === 'never_before')
  if (never) return blameBy(rules, never)
  if (reads.some((read) => markOf(read) === 'may_have_been')) return undefined
  const telling = inClosing.filter(
    ({ observation: { stays, mark } }) => mark !== 'unsettled' && (stays !== undefined || wasLookedFor(it)),
  )
  const basis = telling.find((read) => isConfirmed(read, reads)) ?? telling[0]
  return basis && blameBy(rules, basis)
}

/** At a destination without a log: it was not shown just after the submission, nor by any later read. */
function wasLookedFor({ rules: { freshMs = FRESH_MS }, claim: { claimedAt, submittedAt }, reads }: Case): boolean {
  return (
    submittedAt - claimedAt <= freshMs &&
    reads.some((read) => shownAt(read) >= submittedAt && read.sentAt <= submittedAt + PROMPT_MS)
  )
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
function saysSinceWhen(read: ReadRecord): boolean {
  const { mark, stays } = read.observation
  if (mark === 'never_before' || stays === undefined) return mark === 'never_before'
  return !showsOutcome(read) || stays.some(({ appeared }) => appeared.notBefore !== undefined)
}

/** Neither the issuer's clock nor the destination's jumped between the reads. */
function isSteady(reads: readonly ReadRecord[]): boolean {
  const offsets = reads.filter(({ dated }) => dated).map(({ clockOffsetMs, ageMs = 0 }) => ({ clockOffsetMs, ageMs }))
  const least = Math.min(...offsets.map(({ clockOffsetMs }) => clockOffsetMs))
  // A cache keeps the date of what it holds.
  return offsets.every(({ clockOffsetMs, ageMs }) => clockOffsetMs - ageMs - least <= LARGEST_JUMP_MS)
}

/** Another read saw the same. */
function isConfirmed(read: ReadRecord, reads: readonly ReadRecord[]): boolean {
  return reads.some((other) => isApart(other, read) && seenIn(other) === seenIn(read))
}

function isContradicted(basis: CheckRecord, reads: readonly ReadRecord[]): boolean {
  return reads.some((other) => isApart(other, basis))
}

function isApart(one: CheckRecord, other: CheckRecord): boolean {
  return Math.abs(one.sentAt - other.sentAt) >= CONFIRMATION_MS
}

function seenIn({ observation }: ReadRecord): string {
  return observation.kind === 'absent' ? '' : `differs ${observation.differs.toSorted().join(' ')}`
}

/** The answer shows the state at this moment or a later one. */
function shownAt({ sentAt, ageMs = 0 }: ReadRecord): Instant {
  return sentAt - ageMs
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
