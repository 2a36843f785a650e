/** Sentences about a claim from templates of plain data, so that the console, receipts, the command line and others say the same. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { VerdictValue } from '../verdict.ts'

/**
 * A template, or several: the first counts in which every name has a value. `{name}` is a fact, a param or `target`, in this order;
 * `{name:short}` its first twelve characters. It begins with a capital letter and ends with a full stop.
 */
export type Sentence = string | readonly string[]

export interface Words {
  /** The deed as a title: `Push of a commit`. */
  readonly title: string
  /** The kind of thing that the target is: `Repository`. */
  readonly target: string
  /** The claim as a sentence: `Commit {sha:short} was pushed to {branch} of {target}.` */
  readonly claim: Sentence
  /** Sentences for what was found. Unverifiable claims have the host's sentences, by their reason. */
  readonly outcomes: Readonly<Record<Exclude<VerdictValue, 'unverifiable'>, Sentence>>
  /** Sentences for facts beyond the outcome: for any value, or by value (`true`, `false`, or a text). A fact that equals the target has none. */
  readonly facts?: Readonly<Record<string, Sentence | Readonly<Record<string, Sentence>>>>
  /** The fact that shows what was found for a param or for `target`, if it has another name: `{ branch: 'found_on' }`. */
  readonly found?: Readonly<Record<string, string>>
}

/** The values that sentences of a claim can name. */
export interface Named {
  readonly target: string
  readonly params: JsonObject
  readonly facts?: JsonObject
}

/** A profile, or its published part. */
export interface Worded {
  readonly words: Words
}

/** The claim as a sentence. It reads no fact, because a fact may have the name of a param. */
export function claimSentence({ words }: Worded, { target, params }: Named): string {
  return fill(words.claim, { target, params }) ?? words.title
}

/** The sentence for what was found; undefined for `unverifiable`. */
export function outcomeSentence({ words }: Worded, verdict: VerdictValue, named: Named): string | undefined {
  return verdict === 'unverifiable' ? undefined : fill(words.outcomes[verdict], named)
}

/** The sentences for facts beyond the outcome, in the order of the profile's words. */
export function factSentences({ words }: Worded, named: Named): string[] {
  const { facts = {}, target } = named
  return Object.entries(words.facts ?? {}).flatMap(([name, told]) => {
    const value = ownMember(facts, name)
    if (value === undefined || value === target) return []
    const sentence = isSentence(told) ? told : sentenceFor(told, value)
    return (sentence && fill(sentence, named)) ?? []
  })
}

/** The sentence for a value, which comes from the destination: an object's `toString` may throw. */
function sentenceFor(told: Readonly<Record<string, Sentence>>, value: JsonValue): Sentence | undefined {
  return value === null || isPlain(value) ? ownMember(told, String(value)) : undefined
}

/** Reads a member by a name from elsewhere, which may be one that every object inherits. */
function ownMember<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

export function isSentence(value: unknown): value is Sentence {
  return typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
}

/** Matches a name in a template: `{name}` or `{name:short}`. */
const NAME = /\{([a-z0-9_]+)(:short)?\}/g
const SHORT_LENGTH = 12

/** The names in a template. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(NAME)].map(([, name]) => name!)
}

/** Fills in the first template that has all its values; undefined if none has. */
function fill(sentence: Sentence, { target, params, facts }: Named): string | undefined {
  const values: JsonObject = { target, ...params, ...facts }
  const template = [sentence].flat().find((one) => namesIn(one).every((name) => isPlain(ownMember(values, name))))
  return template?.replaceAll(NAME, (_, name: string, short?: string) => {
    const text = String(values[name])
    return short === undefined ? text : [...text].slice(0, SHORT_LENGTH).join('')
  })
}

function isPlain(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && !isJsonObject(value) && !Array.isArray(value)
}
