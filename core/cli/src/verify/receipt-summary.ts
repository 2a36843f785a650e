/** Says for a person what a valid receipt says: in the words of its issuer if those were read, else by names. */

import type { PublishedWords } from '@claimcheck/core/hosting'
import {
  agentNames,
  claimSentence,
  factSentences,
  outcomeSentence,
  type Receipt,
  type ReceiptObservation,
} from '@claimcheck/core/receipts'
import type { JsonObject } from '@claimcheck/core/rules'
import { agentSentences } from '@claimcheck/core/words/agents'
import { withPunycode } from '@claimcheck/core/words/look-alikes'
import { pluginWords } from '@claimcheck/core/words/plugins'
import { sourceWords } from '@claimcheck/core/words/sources'
import { gapWords, REASON_WORDS, VERDICT_WORDS, vouchedFor } from '@claimcheck/core/words/verdicts'
import type { Fact } from './facts.ts'

export interface Summary {
  readonly heading: string
  readonly facts: readonly Fact[]
  /** Further facts by their heading. */
  readonly lists: Readonly<Record<string, readonly Fact[]>>
  readonly sentences: readonly string[]
}

/** Templates that a service publishes. No receipt signs them: reports mark them as the words of that service. */
export interface IssuerWords {
  /** The host at which the words were read. */
  readonly host: string
  readonly words: PublishedWords
}

/** Says what a receipt says. @param isOpen true if nothing shows that the receipt's issuer signed it */
export function receiptSummary({ body }: Receipt, issuerWords: IssuerWords | undefined, isOpen: boolean): Summary {
  const { receipt_id, issued_at, issuer, agent, claim, observation, verdict } = body
  const { value, reason_code } = verdict
  const { pseudonym, domain } = agentNames(agent)
  const { words, titles, plugin_says }: Partial<PublishedWords> = issuerWords?.words ?? {}
  return {
    heading: isOpen
      ? `It says ${value}: ${VERDICT_WORDS[value]}`
      : `Valid receipt with the verdict ${value}. ${VERDICT_WORDS[value]}`,
    facts: [
      ['agent', withPunycode(agent.id) + (agent.bound === true ? ' (bound)' : '')],
      ['pseudonym of the agent', pseudonym],
      ['domain of its workspace', domain],
      ['action', words && plugin_says === undefined ? `${words.title} (${claim.action})` : claim.action],
      ['target', withPunycode(claim.target)],
      ['read at', observation.source && sourceWords(observation.source)],
      ['checked by', pluginWords(observation.verifier)],
      ['verdict', value],
      ['reason', reason_code && `${REASON_WORDS[reason_code]} (${reason_code})`],
      ['claimed at', claim.claimed_at],
      ['appeared', observation.appeared && intervalWords(observation.appeared)],
      ['observed at', observation.observed_at],
      ['deadline at', observation.deadline_at],
      ['issued at', issued_at],
      [isOpen ? 'issuer, as it says' : 'issuer', issuer.name === undefined ? issuer.key_id : withPunycode(issuer.name)],
      ['receipt', receipt_id],
    ],
    lists: { Params: titled(claim.params, titles?.params), Facts: titled(observation.facts, titles?.facts) },
    sentences: [
      ...(issuerWords ? issuerLines(issuerWords, body) : []),
      ...agentSentences(agent),
      isOpen ? undefined : vouchedFor(value),
      gapWords(observation.largest_gap_ms),
    ].filter((sentence) => sentence !== undefined),
  }
}

function issuerLines({ host, words }: IssuerWords, { claim, observation, verdict }: Receipt['body']): string[] {
  const named = { ...claim, facts: observation.facts }
  const found = outcomeSentence(words, verdict.value, named)
  return [
    words.plugin_says === undefined
      ? `As ${host} words it:`
      : `The plugin says, in words of its own, which are not the verdict (published by ${host}):`,
    `  Claimed: ${claimSentence(words, named)}`,
    ...(found === undefined ? [] : [`  Found: ${found}`]),
    ...factSentences(words, named).map((sentence) => `  ${sentence}`),
  ]
}

/** Puts the title of a member, if it has one, before its name. */
function titled(members: JsonObject, titles: Readonly<Record<string, string>> = {}): Fact[] {
  return Object.entries(members).map(([name, value]) => {
    const title = Object.hasOwn(titles, name) ? `${titles[name]} (${name})` : name
    return [title, typeof value === 'string' ? value : JSON.stringify(value)]
  })
}

function intervalWords({ not_before, not_after, source }: NonNullable<ReceiptObservation['appeared']>): string {
  const by = source === 'destination' ? "by the destination's own log" : 'by what the checks saw'
  return not_before === undefined ? `by ${not_after}, ${by}` : `between ${not_before} and ${not_after}, ${by}`
}
