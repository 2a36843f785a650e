/** What people read of a claim, made from plain-data templates: the console, receipts, the command line and others say the same. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { VerdictValue } from '../verdict.ts'

/**
 * A template, or several: the first counts in which every name has a value. `{name}` is a fact, a param or `target`, in this order;
 * `{name:short}` its first twelve characters. It begins with a capital letter and ends with a full stop.
 */
export type Sentence = string | readonly string[]

export interface Words {
  /** What was done, as a title: `Push of a commit`. */
  readonly title: string
  /** What kind of thing the target is: `Repository`. */
  readonly target: string
  /** What the claim says: `Commit {sha:short} was pushed to {branch} of {target}.` */
  readonly claim: Sentence
  /** What was found. Unverifiable claims have sentences of the host's, by their reason. */
  readonly outcomes: Readonly<Record<Exclude<VerdictValue, 'unverifiable'>, Sentence>>
  /** What a fact says beyond the outcome: always, or by its value (`true`, `false`, or a text). A fact that equals the target says nothing. */
  readonly facts?: Readonly<Record<string, Sentence | Readonly<Record<string, Sentence>>>>
  /** The fact that shows what was found for a param or for `target`, where it has another name: `{ branch: 'found_on' }`. */
  readonly found?: Readonly<Record<string, string>>
}

/** What sentences of a claim can name. */
export interface Named {
  readonly target: string
  readonly params: JsonObject
  readonly facts?: JsonObject
}

/** A profile, or what a service publishes of it. */
export interface Worded {
  readonly words: Words
}

/** What the claim says: a fact may have the name of a param. */
export function claimSentence({ words }: Worded, { target, params }: Named): string {
  return fill(words.claim, { target, params }) ?? words.title
}

/** What was found; undefined for `unverifiable`. */
export function outcomeSentence({ words }: Worded, verdict: VerdictValue, named: Named): string | undefined {
  return verdict === 'unverifiable' ? undefined : fill(words.outcomes[verdict], named)
}

/** What the facts say beyond the outcome, in the order of the profile's words. */
export function factSentences({ words }: Worded, named: Named): string[] {
  const { facts = {}, target } = named
  return Object.entries(words.facts ?? {}).flatMap(([name, told]) => {
    const value = Object.hasOwn(facts, name) ? facts[name] : undefined
    if (value === undefined || value === target) return []
    const sentence = isSentence(told) ? told : ownSentence(told, value)
    const text = sentence === undefined ? undefined : fill(sentence, named)
    return text === undefined ? [] : [text]
  })
}

/** A fact's value comes from the destination: a text may be the name of what every object inherits, and an object's own `toString` would throw. */
function ownSentence(told: Readonly<Record<string, Sentence>>, value: JsonValue): Sentence | undefined {
  if (value !== null && !isPlain(value)) return undefined
  const key = String(value)
  return Object.hasOwn(told, key) ? told[key] : undefined
}

export function isSentence(value: unknown): value is Sentence {
  return typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
}

/** `{name}` or `{name:short}`. */
const NAME = /\{([a-z0-9_]+)(:short)?\}/g
const SHORT_LENGTH = 12

/** The names in a template. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(NAME)].map(([, name]) => name!)
}

/** Undefined where no template has all its values. */
function fill(sentence: Sentence, { target, params, facts = {} }: Named): string | undefined {
  const lookUp = (name: string): JsonValue | undefined => {
    for (const from of [facts, params]) if (Object.hasOwn(from, name)) return from[name]
    return name === 'target' ? target : undefined
  }
  for (const template of typeof sentence === 'string' ? [sentence] : sentence) {
    if (!namesIn(template).every((name) => isPlain(lookUp(name)))) continue
    return template.replaceAll(NAME, (_, name: string, short?: string) => {
      const text = String(lookUp(name))
      return short === undefined ? text : [...text].slice(0, SHORT_LENGTH).join('')
    })
  }
  return undefined
}

function isPlain(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && !isJsonObject(value) && !Array.isArray(value)
}
