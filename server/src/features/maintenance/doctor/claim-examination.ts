/** Finds the problems of a claim from its row and its checks. */

import { claimDigest } from '@claimcheck/core/receipts'
import { type CheckRecord, isJsonObject, type JsonObject } from '@claimcheck/core/rules'
import { instantOf } from '../../../base/ids.ts'
import { sha256Text } from '../../../base/sha256.ts'
import { claims, content, contentLeft, isClientIdLeft } from '../../../storage/claim-row.ts'
import { parseJson, readRecord } from './check-record.ts'
import type { StoredClaim } from './stored.ts'

const ACCESSES_WITHOUT_CONNECTION: ReadonlySet<string> = new Set([
  'anonymous',
  'no_connection',
  'ambiguous_claim',
  'unsupported_action',
])

export function examineClaim(claim: StoredClaim): string[] {
  const { claim_id } = claim.fields
  const digest = digestHolds(claim.fields) ? [] : [`claim ${claim_id}: claim_digest is not the digest of the claim`]
  return [...examineRow(claim), ...digest, ...examineChecks(claim)]
}

/** For a claim whose receipt is erased. */
export function examineErasedClaim(claim: StoredClaim): string[] {
  const { fields, checks } = claim
  const problems = examineRow(claim)
  const addProblem = (problem: string) => problems.push(`claim ${fields.claim_id}: it is erased, and ${problem}`)
  for (const column of columnsWithContent(claim)) addProblem(`${column} has content`)
  if (!isClientIdLeft(fields.client_claim_id)) addProblem('client_claim_id is not what an erasure leaves of it')
  if (fields.state !== 'decided') addProblem('it is not decided')
  if (checks.length > 0) addProblem('its checks are there')
  return problems
}

/** Those that hold something else than erasure leaves, but for the client's own id. */
function columnsWithContent({ fields, row }: StoredClaim): string[] {
  try {
    const left = content.cells(contentLeft(claims.read(row)))
    return content.columns.flatMap(({ field, name }, index) => {
      const isLeft = field === 'clientClaimId' || fields[name as keyof typeof fields] === String(left[index] ?? '')
      return isLeft ? [] : [name]
    })
  } catch {
    return ['a column that cannot be read']
  }
}

function examineRow({ fields, belongs }: StoredClaim): string[] {
  const { claim_id, submitted_at, state } = fields
  const problems: string[] = []
  const addProblem = (problem: string) => problems.push(`claim ${claim_id}: ${problem}`)

  const madeAt = instantOf(claim_id)
  if (madeAt !== undefined && String(madeAt) !== submitted_at) addProblem('submitted_at is not the time in its id')
  if (!isConsistentAccess(fields)) addProblem('access contradicts connection_id or origin')
  if (!isFlag(fields.agent_bound)) addProblem('agent_bound is neither 0 nor 1')
  if (!belongs)
    addProblem('its workspace_id or connection_id does not exist, or the connection is of another workspace')

  const waits = [fields.due_at, fields.next_check_at, fields.moment_at]
  const outcome = [fields.receipt_id, fields.verdict, fields.reason_code]
  if (state === 'queued') {
    if (waits.includes('')) addProblem('it is queued without due_at, next_check_at or moment_at')
    if (outcome.some((text) => text !== '')) addProblem('it is queued, and has receipt_id, verdict or reason_code')
  } else if (state === 'decided') {
    if (waits.some((text) => text !== '')) addProblem('it is decided, and has due_at, next_check_at or moment_at')
  } else {
    addProblem('state is neither queued nor decided')
  }
  return problems
}

export function isFlag(text: string): boolean {
  return text === '0' || text === '1'
}

export function isConsistentAccess({
  access,
  connection_id,
  origin,
}: Pick<StoredClaim['fields'], 'access' | 'connection_id' | 'origin'>): boolean {
  if (origin !== '' && access !== 'connection' && access !== 'anonymous') return false
  return connection_id === '' ? ACCESSES_WITHOUT_CONNECTION.has(access) : access === 'connection'
}

function examineChecks({ fields, checks }: StoredClaim): string[] {
  const { claim_id, attempts, last_check } = fields
  const problems: string[] = []
  if (attempts !== String(checks.length) || checks.some(({ attempt }, index) => attempt !== String(index + 1))) {
    const numbers = checks.map(({ attempt }) => attempt).join(', ')
    problems.push(`claim ${claim_id}: attempts is ${attempts}, but its checks have the numbers ${numbers || '(none)'}`)
  }
  for (const { attempt, record } of checks) {
    if (!readRecord(record)) problems.push(`check ${claim_id}/${attempt}: record is not a valid check`)
  }
  if ((checks.at(-1)?.record ?? '') !== last_check) {
    problems.push(`claim ${claim_id}: last_check is not the record of check ${claim_id}/${checks.at(-1)?.attempt ?? 1}`)
  }
  return problems
}

/** The valid checks. */
export function recordsOf({ checks }: StoredClaim): CheckRecord[] {
  return checks.flatMap(({ record }) => readRecord(record) ?? [])
}

export function paramsOf({ params }: StoredClaim['fields']): JsonObject | undefined {
  const value = parseJson(params)
  return value !== undefined && isJsonObject(value) ? value : undefined
}

function digestHolds(fields: StoredClaim['fields']): boolean {
  const params = paramsOf(fields)
  const { action, target, client_claim_id: clientClaimId, claim_digest } = fields
  const claimedAt = Number(fields.claimed_at)
  if (!params || !Number.isSafeInteger(claimedAt)) return false
  try {
    return claimDigest({ action, target, params, claimedAt, clientClaimId }, sha256Text) === claim_digest
  } catch {
    // The time is outside the range of dates, or a text is not well-formed.
    return false
  }
}
