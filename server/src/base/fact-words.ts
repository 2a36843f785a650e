/** What the facts of a receipt say beyond its verdict, in sentences that the console and the command line share. */
import type { JsonObject, JsonValue, VerdictValue } from '@claimcheck/core'

const VOUCHES =
  'Verified says that the outcome was there in time, at this place. It does not say who brought it there, or that it was new.'

/** Undefined for a value that the sentence does not fit. */
type Tell = (value: JsonValue, facts: JsonObject, target: string) => string | undefined

/** By the names that plugins share. A fact without a sentence is shown by its name. */
const SENTENCES: Readonly<Record<string, Tell>> = {
  repository: (name, _, target) =>
    name === target ? undefined : text(name, (shown) => `The destination calls it ${shown}.`),
  pushed_at: (at) => text(at, (time) => `It was pushed at ${time}, by the destination's own log.`),
  removed_at: (at) => text(at, (time) => `It was removed again at ${time}, by the destination's own log.`),
  found_on: (name) => text(name, (branch) => `It is on the branch ${branch}.`),
  preexisting: (is, { pushed_at: at }) => {
    if (is !== true) return undefined
    const since = typeof at === 'string' ? `before the claim, since ${at}` : 'long before the claim'
    return `It was already there ${since}: the claim may be about work that was done earlier.`
  },
  pusher_matches: (matches) => {
    if (matches === true) return "The destination's own log names the pusher that the claim names."
    return matches === false ? "The destination's own log names another pusher than the claim." : undefined
  },
  branch_listed: (isListed) =>
    isListed === false
      ? 'The destination does not list the branch: it does not exist, or the credentials cannot see it.'
      : undefined,
}

function text(value: JsonValue, words: (value: string) => string): string | undefined {
  return typeof value === 'string' ? words(value) : undefined
}

/** In the order of the table. */
export function factSentences(facts: JsonObject, target: string): string[] {
  return Object.keys(SENTENCES)
    .filter((name) => Object.hasOwn(facts, name))
    .map((name) => SENTENCES[name]!(facts[name]!, facts, target))
    .filter((sentence) => sentence !== undefined)
}

/** What a verdict does not say, for the one that people take for more than it says. */
export function vouchedFor(verdict: VerdictValue): string | undefined {
  return verdict === 'verified' ? VOUCHES : undefined
}
