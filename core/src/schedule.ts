/** When a claim is checked next: at growing intervals, and just before and after each moment that its verdict depends on. */
import { type CheckRecord, type Instant, isRead, showsOutcome } from './evidence.ts'
import type { Rules } from './profile.ts'
import { type ClaimTimes, type Closing, closingStart, graceEnd, toleranceEnd } from './verdict.ts'

const FIRST_GAP_MS = 5_000
const MAX_GAP_MS = 5 * 60_000
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 15_000
const MIN_LEAD_MS = 500
const MAX_LEAD_MS = 10_000

/**
 * The time of the next check of a claim that is not decided yet. A time in the past means at once.
 *
 * @param history every check so far, oldest first
 */
export function nextCheckAt(
  rules: Rules,
  claim: ClaimTimes,
  history: readonly CheckRecord[],
  closing: Closing,
): Instant {
  const last = history.at(-1)
  if (!last) return claim.submittedAt
  const notBefore = isRead(last) ? 0 : (last.failure.retryAt ?? 0)

  const start = closingStart(rules, claim)
  if (last.sentAt >= start) {
    const tries = history.filter((record) => record.sentAt >= start).length
    const retryAt = last.answeredAt + growing(FIRST_RETRY_MS, MAX_RETRY_MS, tries)
    return Math.max(notBefore, Math.min(retryAt, graceEnd(rules, claim, closing)))
  }

  const regular = last.answeredAt + growing(FIRST_GAP_MS, MAX_GAP_MS, history.length)
  const paired = pairedChecks(rules, claim, history).filter((moment) => moment > last.sentAt)
  return Math.max(notBefore, Math.min(regular, ...paired))
}

/**
 * A pair of checks around the end of the tolerance and around the deadline. The first is early enough to be answered before that moment,
 * so that an outcome it shows is in time. The second follows the moment, so that an absence it shows counts.
 */
function pairedChecks(rules: Rules, claim: ClaimTimes, history: readonly CheckRecord[]): Instant[] {
  const start = closingStart(rules, claim)
  // The outcome was seen: only the closing read can still say more about when it appeared.
  if (history.some(showsOutcome)) return [start]
  const slowest = Math.max(...history.map((record) => record.answeredAt - record.sentAt))
  const lead = Math.min(Math.max(2 * slowest, MIN_LEAD_MS), MAX_LEAD_MS)
  const inTimeUntil = toleranceEnd(rules, claim)
  return [inTimeUntil - lead, inTimeUntil + (rules.lagMs ?? 0), claim.deadlineAt - lead, start]
}

function growing(first: number, max: number, count: number): number {
  return Math.min(first * 2 ** Math.min(count - 1, 20), max)
}
