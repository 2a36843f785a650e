/** The verdict rules. A verdict depends only on the claim and its recorded checks, so that anyone who has these can recompute it. */
import {
  appearance,
  type CheckRecord,
  type FailureCode,
  type Instant,
  type Interval,
  isRead,
  type ReadRecord,
  showsOutcome,
} from './evidence.ts'
import type { Rules } from './profile.ts'

export const VERDICTS = ['verified', 'late', 'mismatch', 'failed', 'unverifiable'] as const
export type VerdictValue = (typeof VERDICTS)[number]

/** All reasons, by verdict. */
export const REASONS = {
  verified: [],
  late: ['observed_after_tolerance'],
  mismatch: ['content_mismatch', 'target_mismatch'],
  failed: ['not_found'],
  unverifiable: [
    'no_connection',
    'permission_denied',
    'rate_limited',
    'destination_unavailable',
    'unsupported_action',
    'claim_ambiguous',
    'verifier_error',
  ],
} as const satisfies Record<VerdictValue, readonly string[]>
export type ReasonCode = (typeof REASONS)[VerdictValue][number]

export interface Verdict {
  readonly value: VerdictValue
  /** Given with every value but `verified`. */
  readonly reasonCode?: ReasonCode
}

/** The times of a claim on which its verdict depends. */
export interface ClaimTimes {
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
  readonly submittedAt: Instant
}

/** How checks around and after the deadline count. Milliseconds. */
export interface Closing {
  /** An absence is evidence against the agent only if it was read within this time after the deadline. */
  readonly closingMs: number
  /** How long failing reads are repeated after the deadline, or after the submission if that is later. */
  readonly graceMs: number
}

export const CLOSING: Closing = { closingMs: 30_000, graceMs: 120_000 }

export interface Decision {
  readonly verdict: Verdict
  /** When the outcome appeared, if a read showed it. */
  readonly appeared?: Interval
  /** The check on which the verdict is based. */
  readonly basis: CheckRecord
}

const UNVERIFIABLE_REASON: Record<FailureCode, ReasonCode> = {
  unauthorized: 'permission_denied',
  forbidden: 'permission_denied',
  no_connection: 'no_connection',
  rate_limited: 'rate_limited',
  unavailable: 'destination_unavailable',
  timeout: 'destination_unavailable',
  unexpected_response: 'destination_unavailable',
  ambiguous_claim: 'claim_ambiguous',
  unsupported_action: 'unsupported_action',
  verifier_error: 'verifier_error',
}

/** Failures that no later check can change. */
const FINAL_FAILURES: ReadonlySet<FailureCode> = new Set(['ambiguous_claim', 'no_connection', 'unsupported_action'])

/** The last moment at which an outcome is in time. */
export function toleranceEnd(rules: Rules, claim: ClaimTimes): Instant {
  return claim.claimedAt + rules.toleranceMs
}

/** The first moment at which a read shows the state at the deadline, even if its answer is as old as the destination's answers can be. */
export function closingStart(rules: Rules, claim: ClaimTimes): Instant {
  return claim.deadlineAt + (rules.lagMs ?? 0)
}

/** The moment until which failing reads are repeated. */
export function graceEnd(rules: Rules, claim: ClaimTimes, closing: Closing): Instant {
  return Math.max(closingStart(rules, claim), claim.submittedAt) + closing.graceMs
}

/**
 * The verdict on a claim, or `undefined` while later checks can still decide it.
 *
 * @param history every check so far, oldest first
 * @param now not before the last record's answer. It only ends the waiting, and is never evidence.
 */
export function decide(
  rules: Rules,
  claim: ClaimTimes,
  history: readonly CheckRecord[],
  now: Instant,
  closing: Closing = CLOSING,
): Decision | undefined {
  const last = history.at(-1)
  if (last === undefined) return undefined
  if (!isRead(last) && FINAL_FAILURES.has(last.failure.code)) return unverifiable(last.failure.code, last)

  const closingRead = history.filter(isRead).find((read) => read.sentAt >= closingStart(rules, claim))
  const over = isOver(last, now, graceEnd(rules, claim, closing))

  // After a read has shown the outcome, a later absence or change is no evidence against the agent: it may have been removed.
  const shown = history.filter(isRead).findLast(showsOutcome)
  if (shown) {
    const appeared = appearance(history, rules.lagMs ?? 0)
    if (appeared && appeared !== 'contradictory') {
      const verdict = verdictByTime(appeared, toleranceEnd(rules, claim), claim.deadlineAt)
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
    // An absence that is read too late proves nothing: the outcome may have appeared in time and been removed since.
    if (inWindow || closingRead.observation.settled) return blame(rules, closingRead)
    return unverifiable('ambiguous_claim', closingRead)
  }
  if (over && !isRead(last)) return unverifiable(last.failure.code, last)
  return undefined
}

/** The verdict on an outcome that is there as claimed; `undefined` when it may have appeared on either side of a limit. */
function verdictByTime(appeared: Interval, inTimeUntil: Instant, deadlineAt: Instant): Verdict | undefined {
  const notBefore = appeared.notBefore ?? Number.NEGATIVE_INFINITY
  if (appeared.notAfter <= inTimeUntil) return { value: 'verified' }
  if (notBefore >= deadlineAt) return { value: 'failed', reasonCode: 'not_found' }
  if (notBefore >= inTimeUntil && appeared.notAfter < deadlineAt) {
    return { value: 'late', reasonCode: 'observed_after_tolerance' }
  }
  return undefined
}

/** The last check failed, and there is no time for another: the grace is over, or the destination asks to wait until after it. */
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
  return { verdict: { value: 'unverifiable', reasonCode: UNVERIFIABLE_REASON[code] }, basis }
}
