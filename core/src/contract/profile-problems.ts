/** Finds mistakes of a profile beyond the form of its members, by the rules that make receipts safe to publish and plain to read. */
import type { TSchema } from 'typebox'
import type { ActionProfile } from '../profile.ts'
import { PROMPT_MS } from '../rules/moments.ts'
import { comparisonProblems } from './comparison-problems.ts'
import { boundsItself, freeTextIn } from './fact-pattern.ts'
import { keywordProblems } from './schema-keywords.ts'
import { isSentence, namesIn, type Sentence } from './words.ts'

type Schema = Readonly<Record<string, unknown>>

/** Lists a profile's mistakes. @param profile a profile of valid form @returns phrases that follow "the profile" */
export function profileProblems(profile: ActionProfile): string[] {
  const { target, params, facts, required, words, underWay, settles } = profile
  const unknown = Object.entries({ target, params, facts }).flatMap(([where, schema]) => keywordProblems(schema, where))
  if (unknown.length > 0) return unknown
  const [paramNames, factNames] = [params, facts].map((schema) => Object.keys(propertiesOf(schema)))
  return [
    ...closedProblems('facts', facts),
    ...closedProblems('params', params),
    // Free text in a receipt could be content, or a credential that the destination repeats.
    ...Object.entries(propertiesOf(facts)).flatMap(([name, schema]) => {
      const problem = factProblem(schema)
      return problem === undefined ? [] : [`has the fact ${name}, which ${problem}`]
    }),
    ...Object.entries({ params, facts }).flatMap(([where, schema]) => titleProblems(where, schema)),
    ...Object.keys(required)
      .filter((name) => name !== 'target' && !paramNames!.includes(name))
      .map((name) => `requires the field ${name}, which claims do not have`),
    ...[underWay, settles]
      .filter((fact) => fact !== undefined && !factNames!.includes(fact))
      .map((fact) => `watches the fact ${fact}, which it does not have`),
    ...comparisonProblems(profile),
    ...wordsProblems(words, [...factNames!, ...paramNames!, 'target'], factNames!),
    ...foundProblems(words, [...paramNames!, 'target'], factNames!),
  ]
}

/** Finds what an author may not mean, although a host loads it. @returns phrases that follow "the profile" */
export function profileWarnings({ ageMs = 0 }: Pick<ActionProfile, 'ageMs'>): string[] {
  if (ageMs <= PROMPT_MS) return []
  return [
    `has an ageMs of ${ageMs / 1000} s: no claim becomes failed or late by it where a check gives no stays and no mark, because that needs an answer from within ${PROMPT_MS / 1000} s of the submission`,
  ]
}

function propertiesOf(schema: TSchema): Readonly<Record<string, Schema>> {
  return ((schema as Schema).properties ?? {}) as Readonly<Record<string, Schema>>
}

function closedProblems(name: string, schema: TSchema): string[] {
  return (schema as Schema).additionalProperties === false
    ? []
    : [`has ${name} that are not closed: add \`{ additionalProperties: false }\``]
}

function titleProblems(where: string, schema: TSchema): string[] {
  return Object.entries(propertiesOf(schema))
    .filter(([, { title }]) => typeof title !== 'string' || title === '')
    .map(([name]) => `has no title for ${where}.${name}: people read it`)
}

const NO_FACT =
  'is no integer, boolean, time, or text of a bounded form: give it a format, a list of values, or a pattern and a maxLength'

function factProblem(schema: Schema): string | undefined {
  const { type, anyOf, const: constant, enum: values } = schema
  if (Array.isArray(anyOf))
    return anyOf.map((one) => factProblem(one as Schema)).find((problem) => problem !== undefined)
  if (constant !== undefined || Array.isArray(values)) return undefined
  if (type === 'integer' || type === 'boolean' || type === 'null') return undefined
  return type === 'string' ? textProblem(schema) : NO_FACT
}

const FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'date', 'uuid', 'ipv4', 'ipv6'])
const LONGEST_FACT = 1024

function textProblem({ format, pattern, maxLength }: Schema): string | undefined {
  if (FORMATS.has(format)) return undefined
  if (typeof pattern !== 'string') return NO_FACT
  const free = freeTextIn(pattern)
  if (free !== undefined) return `has a pattern that ${free}`
  const isBounded = typeof maxLength === 'number' ? maxLength <= LONGEST_FACT : boundsItself(pattern)
  return isBounded ? undefined : `has no end: give it a maxLength of at most ${LONGEST_FACT}`
}

function wordsProblems(words: ActionProfile['words'], names: readonly string[], facts: readonly string[]): string[] {
  const told = Object.entries(words.facts ?? {})
  const sentences: [place: string, sentence: Sentence][] = [
    ['claim', words.claim],
    ...Object.entries(words.outcomes).map(([verdict, sentence]): [string, Sentence] => [
      `outcomes.${verdict}`,
      sentence,
    ]),
    ...told.flatMap(([name, value]): [string, Sentence][] =>
      isSentence(value)
        ? [[`facts.${name}`, value]]
        : Object.entries(value).map(([of, sentence]) => [`facts.${name}.${of}`, sentence]),
    ),
  ]
  return [
    ...told
      .filter(([name]) => !facts.includes(name))
      .map(([name]) => `has words for the fact ${name}, which it does not have`),
    ...sentences.flatMap(([place, sentence]) => sentenceProblems(`words.${place}`, sentence, names)),
  ]
}

function foundProblems(
  { found = {} }: ActionProfile['words'],
  fields: readonly string[],
  facts: readonly string[],
): string[] {
  return Object.entries(found).flatMap(([field, fact]) => [
    ...(fields.includes(field) ? [] : [`has words.found for ${field}, which is no param and not the target`]),
    ...(facts.includes(fact) ? [] : [`names the fact ${fact} in words.found, which it does not have`]),
  ])
}

function sentenceProblems(place: string, sentence: Sentence, names: readonly string[]): string[] {
  const templates = typeof sentence === 'string' ? [sentence] : sentence
  return [
    ...(templates.length === 0 ? [`has no sentence in ${place}`] : []),
    ...templates.flatMap((template) => [
      ...(/^[A-Z{].*\.$/s.test(template)
        ? []
        : [`has a sentence in ${place} that is not one: begin with a capital letter, end with a full stop`]),
      ...namesIn(template)
        .filter((name) => !names.includes(name))
        .map((name) => `names {${name}} in ${place}, which is no fact, param or target`),
    ]),
  ]
}
