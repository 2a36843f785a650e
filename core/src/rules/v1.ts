/**
 * Verdict rules, version 1. Fail toward unverifiable, never toward verified; blame only on evidence: the place's own log, read back past the
 * window's start, or, where the place has no log, a look just after the submission. Two reads that agree blame, and one never.
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
import { accountOf } from './appearance.ts'
import { CONFIRMATION_MS, graceEnd, largestAge, toleranceEnd } from './moments.ts'

/** A look this soon after the submission of a fresh claim leaves no room for an outcome that came and went before it. Milliseconds. */
const PROMPT_MS = 5000

/** Of two reads of one claim: a clock that jumps by more makes them worthless for absence. Milliseconds. */
const LARGEST_JUMP_MS = 60_000

/**
 * The verdict on a claim, or `undefined` while it cannot be told yet.
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

  const { deadlineAt, submittedAt } = claim
  const reads = checks.filter(isRead)
  const inTimeUntil = toleranceEnd(rules, claim)
  const account = accountOf(reads, {
    claimedAt: Math.min(claim.claimedAt, submittedAt),
    removedWithinMs: rules.removedWithinMs ?? 0,
    inTimeUntil,
  })
  const end = graceEnd(rules, claim, checks, closing)
  const closingEnd = deadlineAt + largestAge(rules, checks) + closing.closingMs
  const isOver = now >= end || (!isRead(last) && (last.failure.retryAt ?? 0) > end)
  const atDeadline = reads.filter((read) => shownAt(read) >= deadlineAt)
  const inClosing = atDeadline.filter(({ sentAt }) => sentAt <= closingEnd)
  const placed = placedInTime()

  if (placed?.verdict.value === 'verified') return placed
  const blame = placed ?? blamed()
  if (blame && isConfirmed(blame.basis as ReadRecord, reads)) return blame
  if (blame && !isOver) return undefined
  if (blame) return isContradicted(blame.basis, reads) ? unverifiable('claim_ambiguous', blame.basis) : unread()
  if (account.shownBy) {
    if (atDeadline.length === 0 && !isOver) return undefined
    return { ...unverifiable('claim_ambiguous', account.shownBy), ...shownInterval() }
  }
  const [closingRead] = atDeadline
  if (closingRead) return inClosing.includes(closingRead) ? unverifiable('claim_ambiguous', closingRead) : unread()
  return isOver ? unread() : undefined

  /** It is, or was, there as claimed. */
  function placedInTime(): Decision | undefined {
    const { interval, shownBy, hasLog, isListed, mayHaveBeenInTime } = account
    if (!shownBy || interval === undefined || interval === 'contradictory') return undefined
    const verdict = placeInTime(interval, inTimeUntil, deadlineAt)
    if (verdict?.value === 'late' && rules.neverLate) return undefined
    // A log that can be read and does not list it yet may still say that it came in time.
    const isOpen = mayHaveBeenInTime || (hasLog && !isListed) || !isSteady(reads) || !isFollowed()
    return verdict && (verdict.value === 'verified' || !isOpen)
      ? { verdict, appeared: interval, basis: shownBy }
      : undefined
  }

  /** Nothing of it can have come and gone before the first look: the place's own record says so, or the look came just after the submission. */
  function isFollowed(): boolean {
    return wasLookedFor() || reads.some(saysSinceWhen)
  }

  /** Nothing shows it, and the evidence says that it was not there. */
  function blamed(): Decision | undefined {
    if (account.shownBy) return undefined
    if (markOf(last!) === 'final') return blameBy(last as ReadRecord)
    if (!isSteady(reads)) return undefined
    const never = atDeadline.findLast((read) => markOf(read) === 'never_before')
    if (never) return blameBy(never)
    if (reads.some((read) => markOf(read) === 'may_have_been')) return undefined
    const telling = inClosing.filter(
      ({ observation: { stays, mark } }) => mark !== 'unsettled' && (stays !== undefined || wasLookedFor()),
    )
    const basis = telling.find((read) => isConfirmed(read, reads)) ?? telling[0]
    return basis && blameBy(basis)
  }

  /** At a place without a log: it was not shown just after the submission, nor at any later look. */
  function wasLookedFor(): boolean {
    const { freshMs = FRESH_MS } = rules
    return (
      submittedAt - claim.claimedAt <= freshMs &&
      reads.some((read) => shownAt(read) >= submittedAt && read.sentAt <= submittedAt + PROMPT_MS)
    )
  }

  function blameBy(read: ReadRecord): Decision {
    const { observation } = read
    if (observation.kind === 'absent') return { verdict: { value: 'failed', reasonCode: 'not_found' }, basis: read }
    const isTarget = observation.differs.some((field) => rules.required[field] === 'target')
    const reasonCode = isTarget ? 'target_mismatch' : 'content_mismatch'
    return { verdict: { value: 'mismatch', reasonCode }, basis: read }
  }

  function shownInterval(): { readonly appeared?: Interval } {
    const { interval } = account
    return interval === undefined || interval === 'contradictory' ? {} : { appeared: interval }
  }

  /** No read tells how it stood at the deadline. */
  function unread(): Decision {
    if (submittedAt > closingEnd) return unverifiable('claim_ambiguous', last!)
    const failed = checks.findLast(
      (check) => !isRead(check) && Math.max(check.answeredAt, check.failure.retryAt ?? 0) >= deadlineAt,
    )
    return failed && !isRead(failed)
      ? unverifiable(FAILURE_REASONS[failed.failure.code], failed)
      : unverifiable('verifier_error', last!)
  }
}

/** The place's own record says that it was not there before: by name, by a log that does not show it, or by a time since when it is there. */
function saysSinceWhen(read: ReadRecord): boolean {
  const { mark, stays } = read.observation
  if (mark === 'never_before' || stays === undefined) return mark === 'never_before'
  return !showsOutcome(read) || stays.some(({ appeared }) => appeared.notBefore !== undefined)
}

/** No clock, ours or the destination's, jumped between the reads. */
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
