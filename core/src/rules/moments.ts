/** The moments of a claim that its verdict and the times of its checks depend on, and how its checks compare in time. */
import { type CheckRecord, type Instant, isRead, type ReadRecord } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import type { ClaimTimes, Closing } from '../verdict.ts'

/** The last moment at which an outcome is in time. */
export function toleranceEnd(rules: Pick<Rules, 'toleranceMs'>, claim: Pick<ClaimTimes, 'claimedAt'>): Instant {
  return claim.claimedAt + rules.toleranceMs
}

/** Least milliseconds between the two successful reads that blame needs, because one odd answer blames no agent. */
export const CONFIRMATION_MS = 2000

/** Milliseconds after a fresh claim's submission within which a read leaves no room for an outcome that came and went before it. */
export const PROMPT_MS = 5000

/** The moment until which failing reads are tried again. */
export function graceEnd(
  rules: Pick<Rules, 'ageMs'>,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  { graceMs }: Pick<Closing, 'graceMs'>,
): Instant {
  return Math.max(claim.deadlineAt + largestAge(rules, checks), claim.submittedAt) + graceMs
}

/** Largest age of the destination's answers, by what it and the profile said so far, in milliseconds. */
export function largestAge({ ageMs = 0 }: Pick<Rules, 'ageMs'>, checks: readonly CheckRecord[]): number {
  return checks.reduce((most, check) => (isRead(check) ? Math.max(most, check.ageMs ?? 0) : most), ageMs)
}

/** The earliest moment whose state the answer can show. */
export function shownAt({ sentAt, ageMs = 0 }: ReadRecord): Instant {
  return sentAt - ageMs
}

/** Tells whether a read shows the state at the submission or just after it. */
export function isPrompt(read: ReadRecord, { submittedAt }: Pick<ClaimTimes, 'submittedAt'>): boolean {
  return shownAt(read) >= submittedAt && read.sentAt <= submittedAt + PROMPT_MS
}

export function isApart(one: CheckRecord, other: CheckRecord): boolean {
  return Math.abs(one.sentAt - other.sentAt) >= CONFIRMATION_MS
}

/** Writes what a read saw as a text that is equal for reads that agree. */
export function seenIn({ observation }: ReadRecord): string {
  return observation.kind === 'absent' ? '' : `differs ${observation.differs.toSorted().join(' ')}`
}

/** Tells whether the claim was looked at at least this often since a moment, with time between the looks, whether or not they could read. */
export function hasLooks(checks: readonly CheckRecord[], from: Instant, least: 1 | 2): boolean {
  if (least === 1) return true
  const last = checks.at(-1)!
  return checks.some((check) => check.sentAt >= from && isApart(check, last))
}
