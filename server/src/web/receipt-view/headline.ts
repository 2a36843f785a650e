/** The outcome as a title of a few words, and the reason in one sentence: from a claim or from a receipt alone. */

import { factSentences, type Named, outcomeSentence, type Receipt, type Worded } from '@claimcheck/core/receipts'
import { type Instant, type JsonValue, parseInstant, type ReasonCode, type VerdictValue } from '@claimcheck/core/rules'
import { duration } from '@claimcheck/core/words/durations'
import { visible } from '@claimcheck/core/words/plain-text'
import { REASON_WORDS, VERDICT_WORDS } from '@claimcheck/core/words/verdicts'
import { written } from '../../base/schema-properties.ts'
import type { ComparedField } from './comparison.ts'

export interface Decided {
  readonly verdict: VerdictValue
  readonly reason?: ReasonCode
  readonly named: Named
  /** The compared fields, from `comparisonOf`. */
  readonly fields: readonly ComparedField[]
  /** The words of the action; undefined where they are unknown. */
  readonly worded?: Worded
  /** True if `worded` has the words of a stranger's plugin, which do not speak for the verdict. */
  readonly isForeign?: boolean
  /** The time from `claimed_at` until the outcome had appeared at the latest; undefined where no read showed it. */
  readonly afterMs?: number
  readonly toleranceMs?: number
}

/** Reads the decision from a receipt alone. */
export function decidedBy({ body }: Pick<Receipt, 'body'>): Omit<Decided, 'fields'> {
  const { claim, observation, verdict } = body
  const [claimedAt, seenAt] = [claim.claimed_at, observation.appeared?.not_after].map(instantOf)
  return {
    verdict: verdict.value,
    reason: verdict.reason_code,
    named: { target: claim.target, params: claim.params, facts: observation.facts },
    afterMs: claimedAt === undefined || seenAt === undefined ? undefined : seenAt - claimedAt,
  }
}

function instantOf(text: string | undefined): Instant | undefined {
  return text === undefined ? undefined : parseInstant(text)
}

const TITLES: Readonly<Record<VerdictValue, string>> = {
  verified: 'There as claimed, in time',
  late: 'There as claimed, but too late',
  mismatch: 'Not as claimed',
  failed: 'Not there by the deadline',
  unverifiable: 'Could not be checked',
}

/** Writes the outcome as a title, such as `Found on experiment-6, not main`. */
export function headlineOf(decided: Decided): string {
  const { verdict, fields, afterMs } = decided
  if (verdict === 'verified') return withoutStop(sentenceOf(decided)) ?? TITLES.verified
  if (verdict === 'late' && afterMs !== undefined) return `Too late: there ${duration(afterMs)} after the claim`
  return (verdict === 'mismatch' && !decided.isForeign && differenceIn(fields)) || TITLES[verdict]
}

/** Words the differences; undefined where nothing tells them. */
export function differenceIn(fields: readonly ComparedField[]): string | undefined {
  const differing = fields.filter(({ differs }) => differs)
  return differing.length === 0 ? undefined : differing.map(differenceOf).join('; ')
}

function differenceOf({ title, factTitle, claimed, found }: ComparedField): string {
  if (found === undefined) return `${title} not ${claimed === undefined ? 'as claimed' : short(claimed)}`
  const seen = factTitle === undefined ? `${title}: ${short(found)}` : `${factTitle} ${short(found)}`
  return claimed === undefined ? seen : `${seen}, not ${short(claimed)}`
}

/** Writes the reason: the outcome in the words of the action, or the timing or the cause if the headline says the outcome. */
export function reasonOf(decided: Decided): string {
  const { verdict, reason } = decided
  if (verdict === 'verified') return timingOf(decided) ?? VERDICT_WORDS.verified
  if (verdict === 'unverifiable' && reason !== undefined)
    return `${REASON_WORDS[reason]} This says nothing for or against the agent.`
  return sentenceOf(decided) ?? VERDICT_WORDS[verdict]
}

/** Tells how soon after the claim the outcome was there; undefined where the interval does not tell it. */
function timingOf({ afterMs, toleranceMs }: Decided): string | undefined {
  if (afterMs === undefined || toleranceMs === undefined || afterMs > toleranceMs) return undefined
  const when =
    afterMs <= 0 ? 'It was there when the agent claimed it' : `It was there ${duration(afterMs)} after the claim`
  return `${when}, and the tolerance is ${duration(toleranceMs)}.`
}

function sentenceOf({ isForeign, ...decided }: Decided): string | undefined {
  return isForeign ? undefined : outcomeOf(decided)
}

function outcomeOf({ worded, verdict, named }: Decided): string | undefined {
  const text = worded && outcomeSentence(worded, verdict, named)
  return text === undefined ? undefined : visible(text)
}

/** Lists the outcome and the facts in a stranger's words, to follow "The plugin says". Empty where the words are the house's. */
export function pluginSays({ isForeign, ...decided }: Decided): string[] {
  const { worded, named } = decided
  if (!isForeign || !worded) return []
  return [outcomeOf(decided), ...factSentences(worded, named)].filter((text) => text !== undefined).map(visible)
}

function withoutStop(text: string | undefined): string | undefined {
  return text?.replace(/\.$/, '')
}

const LONGEST = 40
const SHORT_HASH = 12

/** Shortens a value for a page's title. */
function short(value: JsonValue): string {
  return clipped(withShortHash(visible(written(value))), LONGEST)
}

/** Shortens a hash as the sentences of profiles do; any other text stays as it is. */
export function withShortHash(text: string): string {
  return /^[0-9a-f]{40,}$/i.test(text) ? text.slice(0, SHORT_HASH) : text
}

/**
 * Cuts a text, and ends it with an ellipsis.
 * @param most the most code points
 */
export function clipped(text: string, most: number): string {
  const characters = [...text]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}
