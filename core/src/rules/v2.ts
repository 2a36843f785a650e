/** Verdict rules, version 2. Fail toward unverifiable, never toward verified; blame only on evidence. */
import { type CheckRecord, type Instant, type Interval, isRead, type ReadRecord } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import {
  type ClaimTimes,
  type Closing,
  type Decision,
  FAILURE_REASONS,
  FINAL_FAILURES,
  type ReasonCode,
  toleranceEnd,
  type Verdict,
} from '../verdict.ts'
import { accountOf } from './appearance.ts'

/** Blame rests on two successful reads at least this far apart, so that one odd answer blames nobody. Milliseconds. */
export const CONFIRMATION_MS = 2000

/**
 * The verdict on a claim, or `undefined` while it cannot be told yet.
 *
 * @param checks every check so far, oldest first
 * @param now a time not before the last check's; it only ends the waiting, it never counts as evidence
 */
export function decideByRules2(
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

  const { claimedAt, deadlineAt } = claim
  const reads = checks.filter(isRead)
  const inTimeUntil = toleranceEnd(rules, claim)
  const account = accountOf(reads, { claimedAt, removedWithinMs: rules.removedWithinMs ?? 0, inTimeUntil })
  const end = graceEnd(rules, claim, checks, closing)
  const isOver = now >= end || waitsBeyond(last, end)
  const atDeadline = reads.filter((read) => shownAt(read) >= deadlineAt)
  const candidate = candidateOf()

  if (candidate?.verdict.value === 'verified') return candidate
  if (candidate && isConfirmed(candidate.basis, reads)) return candidate
  if (candidate) return isOver ? unread() : undefined
  if (account.shownBy) {
    if (atDeadline.length === 0 && !isOver) return undefined
    return { ...unverifiable('claim_ambiguous', account.shownBy), ...shownInterval() }
  }
  const [closingRead] = atDeadline
  if (closingRead) return inWindow(closingRead) ? unverifiable('claim_ambiguous', closingRead) : unread()
  return isOver ? unread() : undefined

  /** The verdict that the evidence gives, before any blame is confirmed by a second read. */
  function candidateOf(): Decision | undefined {
    const { interval, shownBy, hasLog, isListed, mayHaveBeenInTime } = account
    if (shownBy) {
      if (interval === undefined || interval === 'contradictory') return undefined
      const verdict = placeInTime(interval, inTimeUntil, deadlineAt)
      // A log that can be read and does not list it yet may still say that it came in time.
      const isOpen = mayHaveBeenInTime || (hasLog && !isListed)
      return verdict && (verdict.value === 'verified' || !isOpen)
        ? { verdict, appeared: interval, basis: shownBy }
        : undefined
    }
    if (isRead(last!) && last.observation.kind === 'present' && last.observation.mark === 'final') return blame(last)
    const never = atDeadline.findLast(({ observation }) => observation.mark === 'never_before')
    if (never) return blame(never)
    if (reads.some(({ observation }) => observation.mark === 'may_have_been')) return undefined
    const closingRead = atDeadline.find(inWindow)
    return closingRead && blame(closingRead)
  }

  function blame(read: ReadRecord): Decision {
    const { observation } = read
    if (observation.kind === 'absent') return { verdict: { value: 'failed', reasonCode: 'not_found' }, basis: read }
    const isTarget = observation.differs.some((field) => rules.required[field] === 'target')
    const reasonCode = isTarget ? 'target_mismatch' : 'content_mismatch'
    return { verdict: { value: 'mismatch', reasonCode }, basis: read }
  }

  function inWindow(read: ReadRecord): boolean {
    return read.sentAt <= deadlineAt + largestAge(rules, checks) + closing.closingMs
  }

  function shownInterval(): { readonly appeared?: Interval } {
    const { interval } = account
    return interval === undefined || interval === 'contradictory' ? {} : { appeared: interval }
  }

  /** No read tells how it stood at the deadline. */
  function unread(): Decision {
    if (claim.submittedAt > deadlineAt + largestAge(rules, checks) + closing.closingMs) {
      return unverifiable('claim_ambiguous', last!)
    }
    const failed = checks.findLast(
      (check) => !isRead(check) && Math.max(check.answeredAt, check.failure.retryAt ?? 0) >= deadlineAt,
    )
    return failed && !isRead(failed)
      ? unverifiable(FAILURE_REASONS[failed.failure.code], failed)
      : unverifiable('verifier_error', last!)
  }
}

/** Failing reads are tried again until here. */
export function graceEnd(
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  { graceMs }: Pick<Closing, 'graceMs'>,
): Instant {
  return Math.max(claim.deadlineAt + largestAge(rules, checks), claim.submittedAt) + graceMs
}

/** How old the destination's answers may be, by what it and the profile told so far. Milliseconds. */
export function largestAge({ ageMs = 0 }: Pick<Rules, 'ageMs'>, checks: readonly CheckRecord[]): number {
  return checks.reduce((most, check) => (isRead(check) ? Math.max(most, check.ageMs ?? 0) : most), ageMs)
}

/** The answer shows the state at this moment or a later one. */
export function shownAt({ sentAt, ageMs = 0 }: ReadRecord): Instant {
  return sentAt - ageMs
}

function waitsBeyond(last: CheckRecord, end: Instant): boolean {
  return !isRead(last) && (last.failure.retryAt ?? 0) > end
}

/** The rows for an outcome that is there as claimed; `undefined` when its interval straddles a boundary. */
export function placeInTime(
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

function isConfirmed({ sentAt }: CheckRecord, reads: readonly ReadRecord[]): boolean {
  return reads.some((read) => Math.abs(read.sentAt - sentAt) >= CONFIRMATION_MS)
}

export function unverifiable(reasonCode: ReasonCode, basis: CheckRecord): Decision {
  return { verdict: { value: 'unverifiable', reasonCode }, basis }
}
