/** What is wrong with an observation by the contract, and how two of them differ. A host records a wrong one as `verifier_error`. */
import { isDeepStrictEqual } from 'node:util'
import { Value } from 'typebox/value'
import { type LogTime, MARKS, type Observation, type Stay } from '../evidence.ts'
import type { ActionProfile } from '../profile.ts'

const MAX_FACTS_BYTES = 8192
const MAX_AGE_MS = 24 * 60 * 60_000
const MAX_STAYS = 8
const LATEST_LOG_TIME = Date.UTC(9999, 11, 30, 23, 59, 59, 999)

/** @param name of the kit's check */
export interface Wrong {
  readonly name:
    | 'observation.form'
    | 'observation.facts'
    | 'observation.differs'
    | 'observation.mark'
    | 'observation.stays'
  readonly problem: string
}

export function observationProblem(profile: ActionProfile, returned: unknown): Wrong | undefined {
  if (typeof returned !== 'object' || returned === null) return form('returns no object')
  let observation: Observation
  try {
    // As it will be stored.
    observation = JSON.parse(JSON.stringify(returned))
  } catch {
    return form('returns what JSON cannot express')
  }
  const { kind, facts, ageMs = 0 } = observation
  if (kind !== 'present' && kind !== 'absent') return form('returns a kind that is neither present nor absent')
  if (!isTime(ageMs, MAX_AGE_MS)) return form('returns an ageMs that is no length of time up to a day')
  return (
    factsProblem(profile, (returned as Observation).facts, facts) ??
    markProblem(observation) ??
    staysProblem(observation) ??
    differsProblem(profile, observation)
  )
}

function form(problem: string): Wrong {
  return { name: 'observation.form', problem }
}

function factsProblem({ facts: schema }: ActionProfile, given: unknown, facts: unknown): Wrong | undefined {
  const wrong = (problem: string): Wrong => ({ name: 'observation.facts', problem })
  if (!Value.Check(schema, facts)) {
    const [first] = Value.Errors(schema, facts)
    return wrong(`returns facts that its profile does not allow: ${first?.instancePath ?? ''} ${first?.message ?? ''}`)
  }
  if (JSON.stringify(facts).length > MAX_FACTS_BYTES)
    return wrong(`returns more than ${MAX_FACTS_BYTES} bytes of facts`)
  return isReceiptJson(given)
    ? undefined
    : wrong('returns facts with a number that is no integer, or with text that is not well-formed')
}

function markProblem({ kind, mark, ...rest }: Observation): Wrong | undefined {
  const wrong = (problem: string): Wrong => ({ name: 'observation.mark', problem })
  if (mark === undefined) return undefined
  if (!MARKS.includes(mark)) return wrong('returns a mark that is none of the contract')
  const { differs } = rest as { differs?: unknown }
  if (kind === 'present' && Array.isArray(differs) && differs.length === 0) {
    return wrong('returns a mark with what is there as claimed')
  }
  return undefined
}

function staysProblem({ stays }: Observation): Wrong | undefined {
  if (stays === undefined) return undefined
  const isRight = Array.isArray(stays) && stays.length <= MAX_STAYS && stays.every(isStay)
  return isRight
    ? undefined
    : { name: 'observation.stays', problem: `returns stays that are no list of ${MAX_STAYS} at most, or no stays` }
}

function isStay({ appeared, removed, removedWhole }: Stay): boolean {
  const isWhole = removedWhole === undefined || typeof removedWhole === 'boolean'
  return isWhole && isLogTime(appeared) && (removed === undefined || isLogTime(removed))
}

function isLogTime(time: LogTime | undefined): boolean {
  if (typeof time !== 'object' || time === null) return false
  const { notBefore, notAfter } = time
  if (!isTime(notAfter, LATEST_LOG_TIME)) return false
  return notBefore === undefined || (isTime(notBefore, LATEST_LOG_TIME) && notBefore <= notAfter)
}

function differsProblem({ required }: ActionProfile, observation: Observation): Wrong | undefined {
  if (observation.kind === 'absent') return undefined
  const { differs } = observation
  const isRight =
    Array.isArray(differs) && differs.every((field) => typeof field === 'string' && Object.hasOwn(required, field))
  return isRight
    ? undefined
    : { name: 'observation.differs', problem: 'returns differs that are no list of required fields' }
}

function isTime(value: unknown, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
}

/** Receipts are I-JSON and their numbers are integers. */
function isReceiptJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  if (typeof value === 'string') return value.isWellFormed()
  if (value === null || typeof value === 'boolean' || value === undefined) return true
  if (typeof value !== 'object') return false
  return Object.entries(value).every(([name, item]) => name.isWellFormed() && isReceiptJson(item))
}

/** As text, to be compared and shown: `absent, never_before`, `present, differs: state`. */
export function described(observation: Observation): string {
  const { kind, mark } = observation
  const differs =
    kind === 'present' && observation.differs.length > 0 ? `, differs: ${observation.differs.toSorted().join()}` : ''
  return `${kind}${differs}${mark === undefined ? '' : `, ${mark}`}`
}

/** Both say the same of the outcome, marks aside. */
export function sayTheSame(one: Observation, other: Observation): boolean {
  return described(withoutMark(one)) === described(withoutMark(other))
}

function withoutMark({ mark: _, ...rest }: Observation): Observation {
  return rest as Observation
}

export function showsClaimed(observation: Observation): boolean {
  return observation.kind === 'present' && observation.differs.length === 0
}

export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other))
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
