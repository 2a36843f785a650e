/** The verdict rules in all their versions. The version that a profile names judges its claims. */
import type { CheckRecord, Instant } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import { CLOSING, type ClaimTimes, type Closing, type Decision } from '../verdict.ts'
import { decideBy, type Version } from './decision.ts'
import { RULES_1 } from './v1.ts'
import { RULES_2 } from './v2.ts'

/** The decision by one version, with the parameters of `decide`. */
type Decide = (
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing,
) => Decision | undefined

/** The versions of the rules. One that has signed receipts never changes and never goes: a change is the next version, in another file. */
export const RULE_VERSIONS: Readonly<Record<number, Decide>> = {
  1: decideWith(RULES_1),
  2: decideWith(RULES_2),
}

function decideWith(version: Version): Decide {
  return (...given) => decideBy(version, ...given)
}

export function knowsRules(rulesVersion: number): boolean {
  return Object.hasOwn(RULE_VERSIONS, rulesVersion)
}

/**
 * Decides a claim, or gives `undefined` while it is too early. The same checks always give the same verdict.
 *
 * @param checks every check so far, oldest first
 * @param now a time not before the last check's; it only ends the waiting, it never counts as evidence
 * @throws RangeError for a version of the rules that is not known
 */
export function decide(
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing = CLOSING,
): Decision | undefined {
  const { rulesVersion } = rules
  if (!knowsRules(rulesVersion)) throw new RangeError(`there are no rules of version ${rulesVersion}`)
  return RULE_VERSIONS[rulesVersion]!(rules, claim, checks, now, closing)
}
