/** The moments of a claim that its verdict and the times of its checks depend on. */
import { type CheckRecord, type Instant, isRead } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import type { ClaimTimes, Closing } from '../verdict.ts'

/** L: the last moment at which an outcome is in time. */
export function toleranceEnd(rules: Pick<Rules, 'toleranceMs'>, claim: Pick<ClaimTimes, 'claimedAt'>): Instant {
  return claim.claimedAt + rules.toleranceMs
}

/** Blame needs two successful reads with at least so much time between them: one odd answer blames no agent. Milliseconds. */
export const CONFIRMATION_MS = 2000

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
