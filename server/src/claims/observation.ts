/** Holds what a verifier returned against its contract, before any of it is believed, stored or signed. */
import type { ActionProfile, Observation } from '@claimcheck/core'
import { validator } from '../base/validation.ts'

const LARGEST_FACTS_BYTES = 8192
/** The last moment that a receipt's timestamp can say. */
export const LATEST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** What is recorded; or what is wrong, in words for the log. */
export type ReadObservation =
  | { readonly observation: Observation; readonly problem?: never }
  | { readonly observation?: never; readonly problem: string }

/** @throws what a getter throws, and TypeError for what no JSON can say */
export function readObservation(
  profile: ActionProfile,
  returned: unknown,
  secrets: readonly string[],
): ReadObservation {
  if (typeof returned !== 'object' || returned === null) return { problem: 'not an object' }
  const observation = copyOf(returned as Observation)
  const problem = observationProblem(profile, observation, secrets)
  return problem === undefined ? { observation } : { problem }
}

/** The members of the contract, as they will be stored: what was judged is what is recorded, whatever the verifier does with its own. */
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
  if (text.length > LARGEST_FACTS_BYTES) return 'facts are too large'
  if (!isReceiptJson(facts)) return 'facts hold a number that is no integer, or text that is not well-formed'
  if (secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))) return 'facts hold a credential'
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
    return 'differs names what is not a required field'
  }
  if (appeared === undefined) return undefined
  const { notBefore, notAfter } = appeared
  if (!isInstant(notAfter)) return 'appeared.notAfter is not a time'
  if (notBefore !== undefined && !(isInstant(notBefore) && notBefore <= notAfter)) {
    return 'appeared.notBefore is not a time up to notAfter'
  }
  return undefined
}

function isInstant(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LATEST_INSTANT
}

/** Receipts are I-JSON with integers only. */
function isReceiptJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  if (typeof value === 'string') return value.isWellFormed()
  if (value === null || typeof value === 'boolean') return true
  if (Array.isArray(value)) return value.every(isReceiptJson)
  if (typeof value !== 'object') return false
  return Object.entries(value).every(([name, item]) => name.isWellFormed() && isReceiptJson(item))
}
