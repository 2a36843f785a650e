/**
 * Verdict rules, version 1. Fail toward unverifiable, never toward verified; blame only on evidence: the destination's log, read back past
 * the window's start, or, without a log, a read just after the submission. Two reads that agree blame, one never does.
 */
import { FRESH_MS } from '../profile.ts'
import { everyStay } from './appearance.ts'
import type { Looks, Version } from './decision.ts'
import { isPrompt } from './moments.ts'

export const RULES_1: Version = {
  largestJumpMs: 60_000,
  leastLooks: 1,
  believedStays: () => everyStay,
  wasLookedFor,
}

/** Tells whether a fresh claim was read just after its submission, so that what no read showed was never there. */
function wasLookedFor({ rules: { freshMs = FRESH_MS }, claim, reads }: Looks): boolean {
  return claim.submittedAt - claim.claimedAt <= freshMs && reads.some((read) => isPrompt(read, claim))
}
