/** Makes a case ready: brings its claim into the form that a check gets. */
import { isDeepStrictEqual } from 'node:util'
import type { Claim, Verifier } from '../contract/verifier.ts'
import { claimSentence, factSentences, outcomeSentence } from '../contract/words.ts'
import type { Observation } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import type { ActionProfile } from '../profile.ts'
import { Value } from '../typebox.ts'
import type { WholeAnswer } from './exchange.ts'
import type { Findings } from './findings.ts'
import type { CheckRequest, Outcome } from './host.ts'
import type { Case, Sight } from './options.ts'
import type { Run } from './run.ts'

export interface PreparedCase {
  readonly row: Case
  readonly verifier: Verifier
  readonly claim: Claim
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

type Tell = (name: string, problem: string | undefined) => void

/** Brings a case's claim into the form that a check gets. @returns undefined where the claim cannot be made; `findings` then say why */
export function prepareCase({ lanes, startedAt, findings }: Run, row: Case, value: unknown): PreparedCase | undefined {
  const given = typeof row.claim === 'function' ? row.claim(value) : row.claim
  const tell: Tell = (name, problem) => findings.tell(name, problem, { case: row.name })
  const verifier = lanes[0]!.verifierFor(given.action)
  if (!verifier) {
    tell('case.claim', `no verifier of the plugin is for the action ${given.action}`)
    return undefined
  }
  const { profile } = verifier
  const { target, params, action = profile.action, claimedAt = startedAt } = given
  const { deadlineAt = claimedAt + profile.deadlineMs } = given
  const submittedAt = claimedAt + (row.submittedAfterMs ?? USUAL_DELAY_MS)
  const normalized = normalize(verifier, { target, params }, tell)
  const sees = typeof row.sees === 'function' ? row.sees(value) : row.sees
  return normalized && { row, verifier, claim: { action, ...normalized, claimedAt, deadlineAt, submittedAt }, sees }
}

/** The part of a claim that `normalize` may change. */
type ClaimContent = Pick<Claim, 'target' | 'params'>

function normalize(verifier: Verifier, given: ClaimContent, tell: Tell): ClaimContent | undefined {
  const { profile } = verifier
  const refused = claimProblem(profile, given)
  tell('case.claim', refused && `the claim is not valid: ${refused}`)
  if (refused !== undefined) return undefined
  if (!verifier.normalize) return given
  try {
    const apply = (claim: ClaimContent) => verifier.normalize!(structuredClone(claim) as never) as ClaimContent
    const [once, again] = [apply(given), apply(given)]
    const wrong = claimProblem(profile, once)
    tell('normalize.valid', wrong && `normalize makes a claim that ${profile.action} does not allow: ${wrong}`)
    if (wrong !== undefined) return undefined
    const isStable = isDeepStrictEqual(once, apply(once)) && isDeepStrictEqual(once, again)
    const problem = 'normalize changes what it has normalized: its result must stay as it is'
    tell('normalize.stable', isStable ? undefined : problem)
    return once
  } catch (error) {
    tell('normalize.valid', `normalize throws ${(error as Error).message}`)
    return undefined
  }
}

function claimProblem(profile: ActionProfile, claim: ClaimContent): string | undefined {
  for (const name of ['target', 'params'] as const) {
    if (Value.Check(profile[name], claim[name])) continue
    const [first] = Value.Errors(profile[name], claim[name])
    return `${name}${first?.instancePath ?? ''} ${first?.message ?? ''}`
  }
  return undefined
}

/** Notes sentences about the claim or its outcome that lack a value. People read them. */
export function tellWords({ verifier, claim, row }: PreparedCase, facts: JsonObject, { tell }: Findings): void {
  const { profile } = verifier
  const named = { ...claim, facts }
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
  for (const problem of problems.length > 0 ? problems : [undefined]) tell('words.fill', problem, { case: row.name })
}
