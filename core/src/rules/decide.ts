/** The verdict rules in all versions that ever signed: a claim is judged by the version that its profile names. */
import type { CheckRecord, Instant } from '../evidence.ts'
import type { Rules } from '../profile.ts'
import { CLOSING, type ClaimTimes, type Closing, type Decision } from '../verdict.ts'
import { decideByRules1 } from './v1.ts'
import { decideByRules2 } from './v2.ts'
import { decideByRules3 } from './v3.ts'

type Decide = (
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing,
) => Decision | undefined

const VERSIONS: Readonly<Record<number, Decide>> = { 1: decideByRules1, 2: decideByRules2, 3: decideByRules3 }

export function knowsRules(rulesVersion: number): boolean {
  return Object.hasOwn(VERSIONS, rulesVersion)
}

/**
 * The verdict on a claim, or `undefined` while it cannot be told yet. Pure: the same checks always give the same verdict.
 *
 * @param checks every check so far, oldest first
 * @param now a time not before the last check's; it only ends the waiting, it never counts as evidence
 * @throws RangeError for a version of the rules that this library does not know
 */
export function decide(
  rules: Rules,
  claim: ClaimTimes,
  checks: readonly CheckRecord[],
  now: Instant,
  closing: Closing = CLOSING,
): Decision | undefined {
  if (!knowsRules(rules.rulesVersion)) throw new RangeError(`there are no rules of version ${rules.rulesVersion}`)
  return VERSIONS[rules.rulesVersion]!(rules, claim, checks, now, closing)
}
