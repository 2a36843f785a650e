/** Validates the observation that a verifier returned, before the service uses, stores or signs any of it. */
import { type ActionProfile, type LogTime, MARKS, type Observation, type Stay } from '@claimcheck/core'
import { leakFinder } from '../base/leaks.ts'
import { validator } from '../base/validation.ts'

const MAX_FACTS_BYTES = 8192
export const MAX_AGE_MS = 24 * 60 * 60_000
const MAX_STAYS = 8
/** The latest time that a receipt's timestamp can express. */
export const LATEST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** A receipt can still express a time by the destination after the largest clock offset is added. */
const LATEST_LOG_TIME = LATEST_INSTANT - 24 * 60 * 60_000

/** The observation to record; or the problem, as a text for the log. */
export type ReadObservation =
  | { readonly observation: Observation; readonly problem?: never }
  | { readonly observation?: never; readonly problem: string }

/** @throws the error of a getter in `returned`; TypeError for a value that JSON cannot express */
export function readObservation(
  profile: ActionProfile,
  returned: unknown,
  secrets: readonly string[],
): ReadObservation {
  if (typeof returned !== 'object' || returned === null) return { problem: 'it is not an object' }
  const observation = copyOf(returned as Observation)
  const problem = observationProblem(profile, observation, secrets)
  return problem === undefined ? { observation } : { problem }
}

/** Copies the members of the contract as they will be stored, so that the verifier cannot change them between decision and storage. */
function copyOf(returned: Observation): Observation {
  const { kind, facts, mark, stays, ageMs, settled, ...rest } = returned
  const { differs, appeared } = rest as Partial<Extract<Observation, { kind: 'present' }>>
  const copy = {
    kind,
    facts,
    mark,
    stays: Array.isArray(stays) ? stays.map(copyStay) : stays,
    ageMs,
    settled,
    ...(kind === 'present' && { differs, appeared: appeared && copyTime(appeared) }),
  }
  return JSON.parse(JSON.stringify(copy))
}

function copyStay({ appeared, removed, removedWhole }: Stay) {
  return { appeared: copyTime(appeared), removed: removed && copyTime(removed), removedWhole }
}

function copyTime(time: LogTime) {
  return { notBefore: time?.notBefore, notAfter: time?.notAfter }
}

function observationProblem(
  profile: ActionProfile,
  observation: Observation,
  secrets: readonly string[],
): string | undefined {
  const { kind, facts, settled, mark, stays = [], ageMs = 0 } = observation
  if (kind !== 'present' && kind !== 'absent') return 'kind is neither present nor absent'
  if (mark !== undefined && !MARKS.includes(mark)) return 'mark is not one of the contract'
  if (mark !== undefined && showsAsClaimed(observation)) return 'a mark is given with what is there as claimed'
  if (!Number.isSafeInteger(ageMs) || ageMs < 0 || ageMs > MAX_AGE_MS)
    return 'ageMs is not a length of time up to a day'
  if (!Array.isArray(stays) || stays.length > MAX_STAYS) return `stays is not a list of ${MAX_STAYS} at most`
  const wrongStay = stays.map(stayProblem).find((problem) => problem !== undefined)
  if (wrongStay !== undefined) return wrongStay
  if (settled !== undefined && typeof settled !== 'boolean') return 'settled is not a boolean'
  const [issue] = validator(profile.facts)(facts, ['facts'])
  if (issue) return `${issue.loc.join('.')}: ${issue.msg}`
  const text = JSON.stringify(facts)
  if (text.length > MAX_FACTS_BYTES) return 'facts are too large'
  if (!isReceiptJson(facts)) return 'facts contain a number that is not an integer, or text that is not well-formed'
  if (leakFinder(secrets).isInValue(facts)) return 'facts contain a credential'
  return kind === 'present' ? presenceProblem(profile, observation) : undefined
}

function presenceProblem(
  profile: ActionProfile,
  { differs, appeared }: Extract<Observation, { kind: 'present' }>,
): string | undefined {
  if (
    !Array.isArray(differs) ||
    !differs.every((field) => typeof field === 'string' && Object.hasOwn(profile.required, field))
  ) {
    return 'differs names a field that is not required'
  }
  return appeared === undefined ? undefined : timeProblem('appeared', appeared)
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

/** Receipts are I-JSON and their numbers are integers. */
function isReceiptJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  if (typeof value === 'string') return value.isWellFormed()
  if (value === null || typeof value === 'boolean') return true
  if (Array.isArray(value)) return value.every(isReceiptJson)
  if (typeof value !== 'object') return false
  return Object.entries(value).every(([name, item]) => name.isWellFormed() && isReceiptJson(item))
}
