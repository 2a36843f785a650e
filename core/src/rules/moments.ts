/** The moments of a claim that its verdict and the times of its checks depend on, and how its checks compare in time. */
import { type CheckRecord, type Instant, isRead, type ReadRecord } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import type { ClaimTimes, Closing } from '../verdict.ts'

/** L: the last moment at which an outcome is in time. */
export function toleranceEnd(rules: Pick<Rules, 'toleranceMs'>, claim: Pick<ClaimTimes, 'claimedAt'>): Instant {
  return claim.claimedAt + rules.toleranceMs
}

/** Blame needs two successful reads with at least so much time between them: one odd answer blames no agent. Milliseconds. */
export const CONFIRMATION_MS = 2000

/** A read this soon after the submission of a fresh claim leaves no room for an outcome that came and went before it. Milliseconds. */
export const PROMPT_MS = 5000

/** Failing reads are tried again until here. */
export function graceEnd(
  rules: Pick<Rules, 'ageMs'>,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  { graceMs }: Pick<Closing, 'graceMs'>,
): Instant {
  return Math.max(claim.deadlineAt + largestAge(rules, checks), claim.submittedAt) + graceMs
}

/** How old the destination's answers may be, by what it and the profile said so far. Milliseconds. */
export function largestAge({ ageMs = 0 }: Pick<Rules, 'ageMs'>, checks: readonly CheckRecord[]): number {
  return checks.reduce((most, check) => (isRead(check) ? Math.max(most, check.ageMs ?? 0) : most), ageMs)
}

/** The answer shows the state at this moment or a later one. */
export function shownAt({ sentAt, ageMs = 0 }: ReadRecord): Instant {
  return sentAt - ageMs
}

/** It shows the state at the submission or just after it. */
export function isPrompt(read: ReadRecord, { submittedAt }: Pick<ClaimTimes, 'submittedAt'>): boolean {
  return shownAt(read) >= submittedAt && read.sentAt <= submittedAt + PROMPT_MS
}

export function isApart(one: CheckRecord, other: CheckRecord): boolean {
  return Math.abs(one.sentAt - other.sentAt) >= CONFIRMATION_MS
}

/** What two reads that agree have in common. */
export function seenIn({ observation }: ReadRecord): string {
  return observation.kind === 'absent' ? '' : `differs ${observation.differs.toSorted().join(' ')}`
}

/** From this moment on it was looked at so often, with time between the looks, whether or not they could read. */
export function hasLooks(checks: readonly CheckRecord[], from: Instant, least: 1 | 2): boolean {
  if (least === 1) return true
  const last = checks.at(-1)!
  return checks.some((check) => check.sentAt >= from && isApart(check, last))
}
