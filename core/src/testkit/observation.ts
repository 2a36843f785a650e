/** Compares observations with the contract, and with each other. A host records a wrong one as `verifier_error`. */
import { isDeepStrictEqual } from 'node:util'
import type { Observation } from '../evidence.ts'
import { type ObservationPart, readObservation } from '../hosting/observation.ts'
import type { ActionProfile } from '../profile.ts'
import { Value } from '../typebox.ts'

export const PARTS: readonly ObservationPart[] = ['form', 'facts', 'differs', 'mark', 'stays']

export interface ObservationProblem {
  /** The name of the kit's check that the problem fails. */
  readonly name: `observation.${ObservationPart}`
  readonly problem: string
}

export function observationProblem(profile: ActionProfile, returned: unknown): ObservationProblem | undefined {
  const wrong = (part: ObservationPart, problem: string): ObservationProblem => ({
    name: `observation.${part}`,
    problem: `returns what is no observation: ${problem}`,
  })
  try {
    const read = readObservation(profile, returned, (facts) => factsProblem(profile, facts))
    return 'part' in read ? wrong(read.part, read.problem) : undefined
  } catch (error) {
    return wrong('form', `JSON cannot express it: ${(error as Error)?.message ?? error}`)
  }
}

function factsProblem({ facts: schema }: ActionProfile, facts: unknown): string | undefined {
  if (Value.Check(schema, facts)) return undefined
  const [first] = Value.Errors(schema, facts)
  return `the profile does not allow the facts: ${first?.instancePath ?? ''} ${first?.message ?? ''}`
}

/** An observation as text, to be compared and shown: `absent, never_before`, `present, differs: state`. */
export function described(observation: Observation): string {
  const { kind, mark } = observation
  const differs =
    kind === 'present' && observation.differs.length > 0 ? `, differs: ${observation.differs.toSorted().join()}` : ''
  return `${kind}${differs}${mark === undefined ? '' : `, ${mark}`}`
}

/** Tells whether two observations say the same of the outcome, marks aside. */
export function sayTheSame(one: Observation, other: Observation): boolean {
  return described(withoutMark(one)) === described(withoutMark(other))
}

function withoutMark({ mark: _, ...rest }: Observation): Observation {
  return rest as Observation
}

export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other))
}

/** Compares observations, ages and clocks aside: what is measured differs by milliseconds from check to check. */
export function isSameSight(one: Observation | undefined, other: Observation | undefined): boolean {
  const { ageMs: _age, clock: _clock, ...first } = one ?? {}
  const { ageMs: _otherAge, clock: _otherClock, ...second } = other ?? {}
  return isSame(first, second)
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** Finds the problem of an observation without an answer in its check, which no host takes for evidence, even if an earlier check was answered. */
export function unheardProblem(observation: unknown, { answers }: { readonly answers: number }): string | undefined {
  if (!observation || answers > 0) return undefined
  return 'says what it sees without an answer of its base address, and a host records that as `verifier_error`: ask in each check, or join a read by `cache.share`'
}
