/** Makes a case ready: brings its claim into the form that a check gets. */
import { isDeepStrictEqual } from 'node:util'
import type { Claim, Verifier } from '../contract/verifier.ts'
import { claimSentence, factSentences, outcomeSentence } from '../contract/words.ts'
import type { Observation } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import { Value } from '../typebox.ts'
import type { WholeAnswer } from './exchange.ts'
import type { Findings } from './findings.ts'
import type { CheckRequest, Outcome } from './host.ts'
import type { Case, CaseClaim, Sight } from './options.ts'
import type { Run } from './run.ts'

export interface PreparedCase {
  readonly row: Case
  readonly verifier: Verifier
  readonly claim: Claim
  readonly submittedAt: number
  readonly sees: Sight
}

export interface CheckedCase extends PreparedCase {
  readonly asked: CheckRequest
  readonly outcome: Outcome
}

/** A case whose check gave a valid observation. */
export interface SeenCase extends CheckedCase {
  readonly seen: Observation
  /** The destination's answers before the situation, and the observation that a check made of them. */
  readonly before?: { readonly seen: Observation; readonly answers: ReadonlyMap<string, WholeAnswer> }
}

const USUAL_DELAY_MS = 1000

/** Brings a case's claim into the form that a check gets. @returns undefined where the claim cannot be made; `findings` then say why */
export function prepareCase(
  row: Case,
  value: unknown,
  {
    verifierFor,
    startedAt,
    findings,
  }: Pick<Run, 'startedAt' | 'findings'> & { verifierFor(action: string | undefined): Verifier | undefined },
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

/** The part of a claim that `normalize` may change. */
type ClaimContent = Pick<Claim, 'target' | 'params'>

function normalize(
  verifier: Verifier,
  given: ClaimContent,
  { tell }: Findings,
  name: string,
): ClaimContent | undefined {
  const { profile } = verifier
  const place = { case: name }
  const refused = claimProblem(verifier, given)
  tell('case.claim', refused && `the claim is not valid: ${refused}`, place)
  if (refused !== undefined) return undefined
  if (!verifier.normalize) return given
  try {
    const apply = (claim: ClaimContent) => verifier.normalize!(structuredClone(claim) as never) as ClaimContent
    const [once, again] = [apply(given), apply(given)]
    const wrong = claimProblem(verifier, once)
    tell('normalize.valid', wrong && `normalize makes a claim that ${profile.action} does not allow: ${wrong}`, place)
    if (wrong !== undefined) return undefined
    const isStable = isDeepStrictEqual(once, apply(once)) && isDeepStrictEqual(once, again)
    const problem = 'normalize changes what it has normalized: its result must stay as it is'
    tell('normalize.stable', isStable ? undefined : problem, place)
    return once
  } catch (error) {
    tell('normalize.valid', `normalize throws ${(error as Error).message}`, place)
    return undefined
  }
}

function claimProblem({ profile }: Verifier, { target, params }: ClaimContent): string | undefined {
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

/** Notes sentences about the claim or its outcome that lack a value. People read them. */
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
