/** A case made ready: its situation is there, and its claim is in the form in which a check gets it. */
import { isDeepStrictEqual } from 'node:util'
import type { Claim, Verifier } from '../contract/verifier.ts'
import { claimSentence, factSentences, outcomeSentence } from '../contract/words.ts'
import type { Observation } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import { Value } from '../typebox.ts'
import type { WholeAnswer } from './exchange.ts'
import type { Findings } from './findings.ts'
import type { CheckAsked, Outcome } from './host.ts'
import type { Case, CaseClaim, Sight } from './options.ts'

export interface PreparedCase {
  readonly row: Case
  readonly verifier: Verifier
  readonly claim: Claim
  readonly submittedAt: number
  readonly sees: Sight
}

export interface CheckedCase extends PreparedCase {
  readonly asked: CheckAsked
  readonly outcome: Outcome
}

/** A case whose check saw what it is to see. */
export interface SeenCase extends CheckedCase {
  readonly seen: Observation
  /** What the destination answered before the situation, and what a check made of it. */
  readonly before?: { readonly seen: Observation; readonly answers: ReadonlyMap<string, WholeAnswer> }
}

const USUAL_DELAY_MS = 1000

/** @returns undefined where the claim cannot be made, which `findings` then say */
export function prepareCase(
  row: Case,
  value: unknown,
  { verifierFor, startedAt, findings }: PrepareOptions,
): PreparedCase | undefined {
  const given: CaseClaim = typeof row.claim === 'function' ? row.claim(value) : row.claim
  const verifier = verifierFor(given.action)
  const place = { case: row.name }
  if (!verifier) {
    findings.tell('case.claim', `no verifier of the plugin is for the action ${given.action}`, place)
    return undefined
  }
  const { profile } = verifier
  const { target, params, action = profile.action, claimedAt = startedAt } = given
  const deadlineAt = given.deadlineAt ?? claimedAt + profile.deadlineMs
  const normalized = normalize(verifier, { target, params }, findings, row.name)
  if (!normalized) return undefined
  const submittedAt = claimedAt + (row.submittedAfterMs ?? USUAL_DELAY_MS)
  const claim: Claim = { action, ...normalized, claimedAt, deadlineAt, submittedAt }
  const sees = typeof row.sees === 'function' ? row.sees(value) : row.sees
  return { row, verifier, claim, sees, submittedAt }
}

interface PrepareOptions {
  readonly verifierFor: (action: string | undefined) => Verifier | undefined
  readonly startedAt: number
  readonly findings: Findings
}

type Normalizable = Pick<Claim, 'target' | 'params'>

function normalize(
  verifier: Verifier,
  given: Normalizable,
  { tell }: Findings,
  name: string,
): Normalizable | undefined {
  const { profile } = verifier
  const place = { case: name }
  const refused = claimProblem(verifier, given)
  tell('case.claim', refused && `the claim is not valid: ${refused}`, place)
  if (refused !== undefined) return undefined
  if (!verifier.normalize) return given
  try {
    const apply = (claim: Normalizable) => verifier.normalize!(structuredClone(claim) as never) as Normalizable
    const [once, again] = [apply(given), apply(given)]
    const wrong = claimProblem(verifier, once)
    tell('normalize.valid', wrong && `normalize makes a claim that ${profile.action} does not allow: ${wrong}`, place)
    if (wrong !== undefined) return undefined
    const isStable = isDeepStrictEqual(once, apply(once)) && isDeepStrictEqual(once, again)
    tell(
      'normalize.stable',
      isStable ? undefined : 'normalize changes what it has normalized: its result must stay as it is',
      place,
    )
    return once
  } catch (error) {
    tell('normalize.valid', `normalize throws ${(error as Error).message}`, place)
    return undefined
  }
}

function claimProblem({ profile }: Verifier, { target, params }: Normalizable): string | undefined {
  for (const [schema, value, name] of [
    [profile.target, target, 'target'],
    [profile.params, params, 'params'],
  ] as const) {
    if (Value.Check(schema, value)) continue
    const [first] = Value.Errors(schema, value)
    return `${name}${first?.instancePath ?? ''} ${first?.message ?? ''}`
  }
  return undefined
}

/** People read these words of the claim, and of what was found: each must have all its values. */
export function tellWords({ verifier, claim, row }: PreparedCase, facts: JsonObject, { tell }: Findings): void {
  const { profile } = verifier
  const { target, params } = claim
  const named = { target, params, facts }
  const problems: string[] = []
  try {
    const untitled = { words: { ...profile.words, title: '' } }
    if (claimSentence(untitled, named) === '') problems.push('no sentence of words.claim has all its values')
    if (row.verdict !== 'unverifiable' && outcomeSentence(profile, row.verdict, named) === undefined) {
      problems.push(`no sentence of words.outcomes.${row.verdict} has all its values`)
    }
    factSentences(profile, named)
  } catch (error) {
    problems.push(`the words cannot be read: ${(error as Error).message}`)
  }
  if (problems.length === 0) tell('words.fill', undefined, { case: row.name })
  for (const problem of problems) tell('words.fill', problem, { case: row.name })
}
