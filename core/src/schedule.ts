/** When a claim is looked at next: growing gaps, and a pair of checks around each moment that decides. */
import { type CheckRecord, type Instant, isRead, showsOutcome } from './evidence.ts'
import type { Rules } from './profile.ts'
import { type ClaimTimes, type Closing, closingStart, graceEnd, toleranceEnd } from './verdict.ts'

const FIRST_GAP_MS = 5_000
const LONGEST_GAP_MS = 5 * 60_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 15_000
const SHORTEST_LEAD_MS = 500
const LONGEST_LEAD_MS = 10_000

/** The time of the next check of a claim that is not decided yet. A time in the past means at once. */
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
    const retryAt = last.answeredAt + growing(FIRST_RETRY_MS, LONGEST_RETRY_MS, tries)
    return Math.max(notBefore, Math.min(retryAt, graceEnd(rules, claim, closing)))
  }

  const regular = last.answeredAt + growing(FIRST_GAP_MS, LONGEST_GAP_MS, history.length)
  const due = decidingMoments(rules, claim, history).filter((moment) => moment > last.sentAt)
  return Math.max(notBefore, Math.min(regular, ...due))
}

/**
 * The moments whose state decides: the end of the tolerance and the deadline. The first check of a pair is early enough
 * to be answered before the moment, so that presence still counts as in time; the second is right after, so that absence counts.
 */
function decidingMoments(rules: Rules, claim: ClaimTimes, history: readonly CheckRecord[]): Instant[] {
  const start = closingStart(rules, claim)
  // Seen already: only what the closing read adds about the time can still decide.
  if (history.some(showsOutcome)) return [start]
  const slowest = Math.max(...history.map((record) => record.answeredAt - record.sentAt))
  const lead = Math.min(Math.max(2 * slowest, SHORTEST_LEAD_MS), LONGEST_LEAD_MS)
  const inTimeUntil = toleranceEnd(rules, claim)
  return [inTimeUntil - lead, inTimeUntil + (rules.lagMs ?? 0), claim.deadlineAt - lead, start]
}

function growing(first: number, longest: number, count: number): number {
  return Math.min(first * 2 ** Math.min(count - 1, 20), longest)
}
