/** Verdict rules, version 1: frozen, because receipts were signed by them. */
import {
  type CheckRecord,
  type FailureCode,
  type Instant,
  type Interval,
  isRead,
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
  toleranceEnd,
  type Verdict,
} from '../verdict.ts'

/** The first moment at which a read shows the state at the deadline, also where answers may be stale. */
function closingStart(rules: Rules, claim: ClaimTimes): Instant {
  return claim.deadlineAt + (rules.ageMs ?? 0)
}

/** Failing reads are tried again until here. */
function graceEnd(rules: Rules, claim: ClaimTimes, closing: Closing): Instant {
  return Math.max(closingStart(rules, claim), claim.submittedAt) + closing.graceMs
}

/**
 * The verdict on a claim, or `undefined` while it cannot be told yet.
 *
 * @param history every check made so far, oldest first
 * @param now a time not before the last record's; it only ever ends the waiting, it never counts as evidence
 */
export function decideByRules1(
  rules: Rules,
  claim: ClaimTimes,
  history: readonly CheckRecord[],
  now: Instant,
  closing: Closing,
): Decision | undefined {
  const last = history.at(-1)
  if (last === undefined) return undefined
  if (!isRead(last) && FINAL_FAILURES.has(last.failure.code)) return unverifiable(last.failure.code, last)

  const closingRead = history.filter(isRead).find((read) => read.sentAt >= closingStart(rules, claim))
  const over = isOver(last, now, graceEnd(rules, claim, closing))

  // Once a read has shown the outcome, its later absence or change blames nobody: a force-push may have removed it.
  const shown = history.filter(isRead).findLast(showsOutcome)
  if (shown) {
    const appeared = appearance(history, rules.ageMs ?? 0)
    if (appeared && appeared !== 'contradictory') {
      const verdict = placeInTime(appeared, toleranceEnd(rules, claim), claim.deadlineAt)
      if (verdict) return { verdict, appeared, basis: shown }
    }
    if (!shown.observation.settled && !closingRead && !over) return undefined
    return {
      ...unverifiable('ambiguous_claim', shown),
      ...(appeared && appeared !== 'contradictory' ? { appeared } : {}),
    }
  }

  const settledDifference = isRead(last) && last.observation.kind === 'present' && last.observation.settled
  if (settledDifference) return blame(rules, last)
  if (closingRead) {
    const inWindow = closingRead.answeredAt <= closingStart(rules, claim) + closing.closingMs
    // Read too late, absence proves nothing: the outcome may have come in time and gone since.
    if (inWindow || closingRead.observation.settled) return blame(rules, closingRead)
    return unverifiable('ambiguous_claim', closingRead)
  }
  if (over && !isRead(last)) return unverifiable(last.failure.code, last)
  return undefined
}

/** The rows for an outcome that is there as claimed; `undefined` when its interval straddles a boundary. */
function placeInTime(appeared: Interval, inTimeUntil: Instant, deadlineAt: Instant): Verdict | undefined {
  const notBefore = appeared.notBefore ?? Number.NEGATIVE_INFINITY
  if (appeared.notAfter <= inTimeUntil) return { value: 'verified' }
  if (notBefore >= deadlineAt) return { value: 'failed', reasonCode: 'not_found' }
  if (notBefore >= inTimeUntil && appeared.notAfter < deadlineAt) {
    return { value: 'late', reasonCode: 'observed_after_tolerance' }
  }
  return undefined
}

/** No answer is to be had in time: the last check failed, and the time for trying again is over or ends before the next try. */
function isOver(last: CheckRecord, now: Instant, end: Instant): boolean {
  if (isRead(last)) return false
  return now >= end || (last.failure.retryAt ?? 0) > end
}

function blame(rules: Rules, read: ReadRecord): Decision {
  const { observation } = read
  if (observation.kind === 'absent') return { verdict: { value: 'failed', reasonCode: 'not_found' }, basis: read }
  const roles = observation.differs.map((field) => rules.required[field])
  const reasonCode = roles.includes('target') ? 'target_mismatch' : 'content_mismatch'
  return { verdict: { value: 'mismatch', reasonCode }, basis: read }
}

function unverifiable(code: FailureCode, basis: CheckRecord): Decision {
  return { verdict: { value: 'unverifiable', reasonCode: FAILURE_REASONS[code] }, basis }
}

/** Further off than this, a destination's clock tells nothing about when. Milliseconds. */
const LARGEST_CLOCK_OFFSET_MS = 24 * 60 * 60_000

/**
 * When the outcome appeared, by everything recorded. `undefined`: no read showed it. `'contradictory'`: the
 * destination's times and our reads exclude each other.
 */
function appearance(history: readonly CheckRecord[], ageMs: number): Interval | 'contradictory' | undefined {
  const reads = history.filter(isRead)
  const shown = reads.filter(showsOutcome)
  if (shown.length === 0) return undefined

  // A read that did not show it bounds from below by the moment it was sent, less the age an answer may have.
  // Only reads before the first that showed it count: later absence means that it went, not that it had not come. Before
  // is by their order, so that a clock that was set back between them shows as the contradiction that it is.
  const unseenBefore = reads.slice(0, reads.findIndex(showsOutcome)).map((read) => read.sentAt - ageMs)

  const points = shown.flatMap(({ observation, clockOffsetMs }) =>
    observation.kind === 'present' && observation.appeared && clockOffsetMs <= LARGEST_CLOCK_OFFSET_MS
      ? [
          {
            notBefore: (observation.appeared.notBefore ?? Number.NEGATIVE_INFINITY) - clockOffsetMs,
            notAfter: observation.appeared.notAfter + clockOffsetMs,
          },
        ]
      : [],
  )

  const notBefore = Math.max(...unseenBefore, ...points.map((point) => point.notBefore))
  const notAfter = Math.min(...shown.map((read) => read.answeredAt), ...points.map((point) => point.notAfter))
  if (notBefore > notAfter) return 'contradictory'
  return {
    notAfter,
    source: points.length > 0 ? 'destination' : 'observation',
    ...(notBefore === Number.NEGATIVE_INFINITY ? {} : { notBefore }),
  }
}
