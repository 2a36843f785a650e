/**
 * Requirements on answers, so that no program waits for ever for what a service never says. A newer service may have more members, and more
 * values of texts.
 */
import type {
  ClaimList,
  ClaimStatus,
  ConnectionList,
  CredentialDescription,
  ProfileList,
  SubmittedClaim,
} from './wire.ts'

export interface Answer<T> {
  /** The name of the answer in errors. */
  readonly name: string
  fits(value: unknown): value is T
}

/** Limit of the depth of answers: deeper values overflow the stack of those who print them. */
const DEEPEST = 64

type Members = Readonly<Record<string, unknown>>

const TEXTS = ['claim_id', 'agent_id', 'action', 'target', 'submitted_at', 'deadline_at']
const TEXTS_OR_NULL = ['verdict', 'reason_code', 'receipt_id', 'next_check_at']

function isClaim(value: unknown): boolean {
  if (!isObject(value)) return false
  const { state, verdict, attempts } = value
  return (
    TEXTS.every((name) => typeof value[name] === 'string') &&
    TEXTS_OR_NULL.every((name) => value[name] === null || typeof value[name] === 'string') &&
    Number.isSafeInteger(attempts) &&
    !Number.isNaN(Date.parse(value.deadline_at as string)) &&
    (state === 'decided' ? verdict !== null : state === 'queued' && verdict === null)
  )
}

/** Describes the state of a claim. @param id the id of the claim that was asked for */
export function claimAnswer(id: string): Answer<ClaimStatus> {
  return answer(`the claim ${id}`, (value) => isClaim(value) && (value as ClaimStatus).claim_id === id)
}

export const SUBMITTED: Answer<SubmittedClaim> = answer(
  'a claim',
  (value) => isClaim(value) && typeof (value as SubmittedClaim).created === 'boolean',
)

export const CLAIM_LIST: Answer<ClaimList> = answer('a list of claims', (value) => {
  if (!isObject(value)) return false
  const { claims, next_cursor: next } = value
  if (!Array.isArray(claims) || !claims.every(isClaim)) return false
  return next === null || typeof next === 'string'
})

export const CONNECTION_LIST: Answer<ConnectionList> = answer(
  'a list of connections',
  (value) => isObject(value) && areObjects(value.connections) && Array.isArray(value.public_actions),
)

export const CREDENTIAL: Answer<CredentialDescription> = answer(
  'the description of a key',
  (value) => isObject(value) && typeof value.workspace_id === 'string',
)

export const PROFILE_LIST: Answer<ProfileList> = answer(
  'a list of profiles',
  (value) => isObject(value) && areObjects(value.profiles),
)

function answer<T>(name: string, check: (value: unknown) => boolean): Answer<T> {
  return { name, fits: (value): value is T => check(value) && isShallow(value, DEEPEST) }
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function areObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject)
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1))
}
