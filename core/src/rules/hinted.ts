/**
 * Looks beside a claim's schedule, which a message from outside or the submitter caused. Their moment was chosen by others, and one may be the first to
 * ask a replica. So only a look that shows the outcome counts. What another one saw is not recorded: its clock, its facts and its log would tell later
 * looks of the schedule something, and keep a liar from blame.
 */
import { type CheckRecord, markOf, type ReadRecord, showsOutcome } from '../evidence.ts'
import type { ClaimTimes } from '../verdict.ts'

/**
 * Makes the record of a look beside the schedule.
 * @returns undefined for one that is not to be recorded: it does not show the outcome, or shows one that may still change, or came after the deadline
 */
export function hintedRecord(
  { deadlineAt }: Pick<ClaimTimes, 'deadlineAt'>,
  look: ReadRecord,
): CheckRecord | undefined {
  const counts = showsOutcome(look) && markOf(look) !== 'unsettled' && look.sentAt < deadlineAt
  return counts ? { ...look, hinted: true } : undefined
}
