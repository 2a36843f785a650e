/**
 * Looks beside a claim's schedule, which a message from outside or the submitter caused. One that shows the outcome is evidence as any other. One
 * that does not may be the first to ask a replica, and its moment was chosen by others: it neither blames nor helps to blame, nor keeps from blame.
 */
import { type CheckRecord, isRead, type ReadRecord, showsOutcome } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import type { ClaimTimes } from '../verdict.ts'
import { isPrompt, largestAge, seenIn } from './moments.ts'

/**
 * Makes the record of a read beside the schedule. One that does not show the outcome is marked `unsettled`, so that no rule counts it for absence.
 *
 * @param checks the recorded checks so far
 * @returns undefined for a read that is not to be recorded: after the deadline, or where it would tell of the outcome's absence what no look of the
 * schedule told
 */
export function hintedRecord(
  rules: Pick<Rules, 'ageMs'>,
  claim: Pick<ClaimTimes, 'deadlineAt' | 'submittedAt'>,
  checks: readonly CheckRecord[],
  read: ReadRecord,
): ReadRecord | undefined {
  if (read.sentAt >= claim.deadlineAt) return undefined
  if (showsOutcome(read)) return { ...read, hinted: true }
  const scheduled = checks.filter(({ hinted }) => !hinted)
  const isKnown = scheduled.some((check) => isRead(check) && tellsAlike(check, read))
  // The largest age moves the end of the claim, and a prompt look lets others blame.
  if (!isKnown || isPrompt(read, claim) || (read.ageMs ?? 0) > largestAge(rules, scheduled)) return undefined
  return { ...read, hinted: true, observation: { ...read.observation, mark: 'unsettled' } }
}

/** Tells whether two reads saw the same, and both or neither told of the destination's log. */
function tellsAlike(one: ReadRecord, other: ReadRecord): boolean {
  const [hasLog, othersHasLog] = [one, other].map(({ observation: { stays } }) => stays !== undefined)
  return !showsOutcome(one) && seenIn(one) === seenIn(other) && hasLog === othersHasLog
}
