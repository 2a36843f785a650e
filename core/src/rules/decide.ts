/** The verdict rules in all their versions: a claim is judged by the version that its profile names. */
import type { CheckRecord, Instant } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import { CLOSING, type ClaimTimes, type Closing, type Decision } from '../verdict.ts'
import { decideByRules1 } from './v1.ts'

/** How one version decides; see `decide`. */
export type Decide = (
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing,
) => Decision | undefined

export type RuleVersions = Readonly<Record<number, Decide>>

/** A version that has signed receipts never changes and never goes: a change is the next version, in another file. */
export const RULE_VERSIONS: RuleVersions = { 1: decideByRules1 }

export function knowsRules(rulesVersion: number, versions = RULE_VERSIONS): boolean {
  return Object.hasOwn(versions, rulesVersion)
}

/**
 * The verdict on a claim, or `undefined` while it is too early. Pure: the same checks always give the same verdict.
 *
 * @param checks every check so far, oldest first
 * @param now a time not before the last check's; it only ends the waiting, it never counts as evidence
 * @throws RangeError for a version of the rules that `versions` does not have
 */
export function decide(
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing = CLOSING,
  versions = RULE_VERSIONS,
): Decision | undefined {
  const { rulesVersion } = rules
  if (!knowsRules(rulesVersion, versions)) throw new RangeError(`there are no rules of version ${rulesVersion}`)
  return versions[rulesVersion]!(rules, claim, checks, now, closing)
}
