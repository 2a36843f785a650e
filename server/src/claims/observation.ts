/** Validates the observation that a verifier returned, before the service uses, stores or signs any of it. */
import type { ActionProfile, Observation } from '@claimcheck/core'
import { validator } from '../base/validation.ts'

const MAX_FACTS_BYTES = 8192
/** The latest time that a receipt's timestamp can express. */
export const LATEST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

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
function copyOf({ kind, facts, settled, ...rest }: Observation): Observation {
  const { differs, appeared } = rest as Partial<Extract<Observation, { kind: 'present' }>>
  const times = appeared === undefined ? appeared : { notBefore: appeared?.notBefore, notAfter: appeared?.notAfter }
  return JSON.parse(JSON.stringify({ kind, facts, settled, ...(kind === 'present' && { differs, appeared: times }) }))
}

function observationProblem(
  profile: ActionProfile,
  observation: Observation,
  secrets: readonly string[],
): string | undefined {
  const { kind, facts, settled } = observation
  if (kind !== 'present' && kind !== 'absent') return 'kind is neither present nor absent'
  if (settled !== undefined && typeof settled !== 'boolean') return 'settled is not a boolean'
  const [issue] = validator(profile.facts)(facts, ['facts'])
  if (issue) return `${issue.loc.join('.')}: ${issue.msg}`
  const text = JSON.stringify(facts)
  if (text.length > MAX_FACTS_BYTES) return 'facts are too large'
  if (!isReceiptJson(facts)) return 'facts contain a number that is not an integer, or text that is not well-formed'
  if (secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))) return 'facts contain a credential'
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
  if (appeared === undefined) return undefined
  const { notBefore, notAfter } = appeared
  if (!isInstant(notAfter)) return 'appeared.notAfter is not a time'
  if (notBefore !== undefined && !(isInstant(notBefore) && notBefore <= notAfter)) {
    return 'appeared.notBefore is not a time, or is after notAfter'
  }
  return undefined
}

function isInstant(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LATEST_INSTANT
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
