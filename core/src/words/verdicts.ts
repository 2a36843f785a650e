/** Explains verdicts and their reasons, in sentences that the console and the command line share. */
import type { ReasonCode, VerdictValue } from '../verdict.ts'
import { duration } from './durations.ts'

export const VERDICT_WORDS: Readonly<Record<VerdictValue, string>> = {
  verified: 'The outcome is there as claimed, and it appeared in time.',
  late: 'The outcome is there as claimed, but it appeared after the tolerance.',
  mismatch: 'Something is there, but it is not what was claimed.',
  failed: 'The outcome was not there by the deadline.',
  unverifiable: 'The claim could not be checked. This says nothing for or against the agent.',
}

export const REASON_WORDS: Readonly<Record<ReasonCode, string>> = {
  observed_after_tolerance: 'It appeared after the tolerance and before the deadline.',
  content_mismatch: 'The target has an outcome with other content than claimed.',
  target_mismatch: 'The outcome exists, but not at the claimed target.',
  not_found: 'It was not there by the deadline.',
  no_connection: 'The workspace has no connection that can read this destination.',
  permission_denied: 'The destination did not allow the service to read this.',
  rate_limited: 'The destination limited the number of requests.',
  destination_unavailable: 'The destination could not be reached, or its answers were not usable.',
  unsupported_action: 'The service has no plugin that checks this action.',
  claim_ambiguous: 'The claim, or what was seen, can be read in more than one way.',
  verifier_error: 'The check stopped with an error of the verifier.',
}

const VOUCHES =
  'Verified says that the outcome was there in time, at this place. It does not say who brought it there, or that it was new.'

/** Says what `verified` does not say, because people take it for more than it says; undefined for other verdicts. */
export function vouchedFor(verdict: VerdictValue): string | undefined {
  return verdict === 'verified' ? VOUCHES : undefined
}

/**
 * Says what blame that rests on looks alone does not say.
 * @param largestGapMs the receipt's largest gap between looks; undefined where it names none
 */
export function gapWords(largestGapMs: number | undefined): string | undefined {
  if (typeof largestGapMs !== 'number') return undefined
  return `The place keeps no record of this, so the verdict rests on looks. The agent is not blamed if the outcome was there in time for longer than ${duration(largestGapMs)}, the largest gap between two of them.`
}
