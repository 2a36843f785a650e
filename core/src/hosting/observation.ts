/** Validates the observation that a verifier returned, before a host uses, stores or signs any of it. */
import { type LogTime, MARKS, MAX_STAYS, type Observation, type Stay } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import type { ActionProfile } from '../profile.ts'
import { MAX_AGE_MS } from '../rules/consistency.ts'
import { LATEST_INSTANT } from '../time.ts'
import { isIdentity } from './identity.ts'

const MAX_FACTS_BYTES = 8192
const MAX_FACTS_DEPTH = 8
const MAX_FACTS_VALUES = 1024
/** The latest time of a destination that a receipt can express after the largest clock offset is added. */
const LATEST_LOG_TIME = LATEST_INSTANT - 24 * 60 * 60_000

/** The problem of an observation without an answer, as a clause. */
export const UNHEARD =
  'the check says what it saw, and no request of it, nor of a read that it joined, was answered by its base address'

/** The part of an observation that has a problem. */
export type ObservationPart = 'form' | 'facts' | 'differs' | 'mark' | 'stays'

/** Either the observation to record, or its problem, as a clause for the log. */
export type ReadObservation =
  | { readonly observation: Observation; readonly problem?: never }
  | { readonly observation?: never; readonly problem: string; readonly part: ObservationPart }

/**
 * Reads what a verifier returned.
 * @param factsProblem why the profile's schema does not allow the facts, by the host's own validator
 * @throws the error of a getter in `returned`; TypeError for a value that JSON cannot express
 */
export function readObservation(
  profile: Pick<ActionProfile, 'required'>,
  returned: unknown,
  factsProblem: (facts: JsonObject) => string | undefined,
): ReadObservation {
  if (typeof returned !== 'object' || returned === null) return { part: 'form', problem: 'it is not an object' }
  const observation = copyOf(returned as Observation)
  for (const [part, problemOf] of PARTS) {
    const problem = problemOf(observation, { profile, factsProblem })
    if (problem !== undefined) return { part, problem }
  }
  return { observation }
}

/** Copies the contract's members as they will be stored, so that the verifier cannot change them between decision and storage. */
function copyOf(returned: Observation): Observation {
  const { kind, facts, mark, stays, ageMs, identity, clock, ...rest } = returned
  const { differs } = rest as Partial<Extract<Observation, { kind: 'present' }>>
  const copy = {
    kind,
    facts,
    mark,
    stays: Array.isArray(stays) ? stays.map(copyStay) : stays,
    ageMs,
    identity,
    clock: clock && copyTime(clock),
    ...(kind === 'present' && { differs }),
  }
  return JSON.parse(JSON.stringify(copy))
}

function copyStay({ appeared, removed, removedWhole }: Stay) {
  return { appeared: copyTime(appeared), removed: removed && copyTime(removed), removedWhole }
}

function copyTime(time: LogTime) {
  return { notBefore: time?.notBefore, notAfter: time?.notAfter }
}

interface HostRules {
  readonly profile: Pick<ActionProfile, 'required'>
  readonly factsProblem: (facts: JsonObject) => string | undefined
}

type ProblemOf = (observation: Observation, rules: HostRules) => string | undefined

/** The tests of an observation in their order. Each test may rely on those before it. */
const PARTS: readonly (readonly [part: ObservationPart, problemOf: ProblemOf])[] = [
  ['form', kindProblem],
  ['mark', markProblem],
  ['form', ageProblem],
  ['form', identityProblem],
  ['form', ({ clock }) => (clock === undefined ? undefined : timeProblem('clock', clock))],
  ['stays', staysProblem],
  // A schema may cost more than linear time in what it is given.
  ['facts', ({ facts }, { factsProblem }) => factsSizeProblem(facts) ?? factsProblem(facts) ?? factsFormProblem(facts)],
  ['differs', differsProblem],
]

function kindProblem({ kind }: Observation): string | undefined {
  return kind === 'present' || kind === 'absent' ? undefined : 'kind is neither present nor absent'
}

function markProblem(observation: Observation): string | undefined {
  const { mark } = observation
  if (mark === undefined) return undefined
  if (!MARKS.includes(mark)) return 'mark is not one of the contract'
  return showsAsClaimed(observation) ? 'a mark is given with what is there as claimed' : undefined
}

function ageProblem({ ageMs = 0 }: Observation): string | undefined {
  const isAge = Number.isSafeInteger(ageMs) && ageMs >= 0 && ageMs <= MAX_AGE_MS
  return isAge ? undefined : 'ageMs is not a length of time up to a day'
}

function identityProblem({ identity }: Observation): string | undefined {
  const isRight = identity === undefined || isIdentity(identity)
  return isRight ? undefined : 'identity is not 1 to 200 printable ASCII characters without spaces'
}

function staysProblem({ stays = [] }: Observation): string | undefined {
  if (!Array.isArray(stays) || stays.length > MAX_STAYS) return `stays is not a list of ${MAX_STAYS} at most`
  return stays.map(stayProblem).find((problem) => problem !== undefined)
}

function factsSizeProblem(facts: unknown): string | undefined {
  const text = JSON.stringify(facts) ?? ''
  if (text.length > MAX_FACTS_BYTES) return 'facts are too large'
  let level: readonly unknown[] = [facts]
  let values = 0
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length
    if (depth > MAX_FACTS_DEPTH) return `facts are nested deeper than ${MAX_FACTS_DEPTH} levels`
    if (values > MAX_FACTS_VALUES) return `facts have more than ${MAX_FACTS_VALUES} values`
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return undefined
}

function factsFormProblem(facts: JsonObject): string | undefined {
  return isReceiptJson(facts)
    ? undefined
    : 'facts contain a number that is not an integer, or text that is not well-formed'
}

function differsProblem(observation: Observation, { profile }: HostRules): string | undefined {
  if (observation.kind === 'absent') return undefined
  const { differs } = observation
  const isRight =
    Array.isArray(differs) &&
    differs.every((field) => typeof field === 'string' && Object.hasOwn(profile.required, field))
  if (!isRight) return 'differs names a field that is not required'
  // The list is stored and published as it is.
  return new Set(differs).size === differs.length ? undefined : 'differs names a field twice'
}

function stayProblem({ appeared, removed, removedWhole }: Stay): string | undefined {
  if (removedWhole !== undefined && typeof removedWhole !== 'boolean') return 'removedWhole is not a boolean'
  return timeProblem('appeared', appeared) ?? (removed === undefined ? undefined : timeProblem('removed', removed))
}

function timeProblem(name: string, time: LogTime | null): string | undefined {
  if (time === null) return `${name} is not a time`
  const { notBefore, notAfter } = time
  if (!isInstant(notAfter)) return `${name}.notAfter is not a time`
  const isBefore = notBefore === undefined || (isInstant(notBefore) && notBefore <= notAfter)
  return isBefore ? undefined : `${name}.notBefore is not a time, or is after notAfter`
}

function showsAsClaimed(observation: Observation): boolean {
  return observation.kind === 'present' && Array.isArray(observation.differs) && observation.differs.length === 0
}

function isInstant(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LATEST_LOG_TIME
}

/** Tells whether a receipt can hold a value: it is I-JSON, and its numbers are integers. */
function isReceiptJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  if (typeof value === 'string') return value.isWellFormed()
  if (value === null || typeof value === 'boolean') return true
  if (Array.isArray(value)) return value.every(isReceiptJson)
  if (typeof value !== 'object') return false
  return Object.entries(value).every(([name, item]) => name.isWellFormed() && isReceiptJson(item))
}
