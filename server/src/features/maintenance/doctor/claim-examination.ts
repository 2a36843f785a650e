/** Finds the problems of a claim from its row and its checks. */

import { claimDigest } from '@claimcheck/core/receipts'
import type { CheckRecord } from '@claimcheck/core/rules'
import { instantOf } from '../../../base/ids.ts'
import { sha256Text } from '../../../base/sha256.ts'
import { content, contentLeft, isClientIdLeft } from '../../../storage/claim-row.ts'
import type { StoredClaim } from './stored.ts'

type Row = NonNullable<StoredClaim['row']>

const ACCESSES_WITHOUT_CONNECTION: ReadonlySet<string> = new Set([
  'anonymous',
  'no_connection',
  'ambiguous_claim',
  'unsupported_action',
])

export function examineClaim(claim: StoredClaim): string[] {
  const problems = examineRow(claim)
  const { claimId, row, checks, lastCheck } = claim
  if (!row) return problems
  const addProblem = (problem: string) => problems.push(`claim ${claimId}: ${problem}`)
  if (!digestHolds(row)) addProblem('claim_digest is not the digest of the claim')
  if (row.attempts !== checks.length || checks.some(({ attempt }, index) => attempt !== index + 1)) {
    const numbers = checks.map(({ attempt }) => attempt).join(', ')
    addProblem(`attempts is ${row.attempts}, but its checks have the numbers ${numbers || '(none)'}`)
  }
  for (const { attempt, record } of checks) {
    if (!record) problems.push(`check ${claimId}/${attempt}: record is not a valid check`)
  }
  const last = checks.at(-1)
  if ((last?.text ?? null) !== lastCheck)
    addProblem(`last_check is not the record of check ${claimId}/${last?.attempt ?? 1}`)
  return problems
}

export function examineErasedClaim(claim: StoredClaim): string[] {
  const problems = examineRow(claim)
  const { claimId, row, checks, lastCheck } = claim
  if (!row) return problems
  const addProblem = (problem: string) => problems.push(`claim ${claimId}: it is erased, and ${problem}`)
  const whole = { ...row, lastCheck: null }
  const [kept, left] = [whole, contentLeft(whole)].map((one) => content.cells(one))
  for (const [index, { field, name }] of content.columns.entries()) {
    if (field !== 'clientClaimId' && kept![index] !== left![index]) addProblem(`${name} has content`)
  }
  if (lastCheck !== null) addProblem('last_check has content')
  if (!isClientIdLeft(row.clientClaimId)) addProblem('client_claim_id is not what an erasure leaves of it')
  if (row.state !== 'decided') addProblem('it is not decided')
  if (checks.length > 0) addProblem('its checks are there')
  return problems
}

function examineRow({ claimId, row, malformed, belongs }: StoredClaim): string[] {
  const problems: string[] = []
  const addProblem = (problem: string) => problems.push(`claim ${claimId}: ${problem}`)
  for (const column of malformed) addProblem(`${column} holds what the service never writes`)
  if (!belongs)
    addProblem('its workspace_id, payer or connection_id does not exist, or the connection is of another workspace')
  if (!row) return problems

  const { submittedAt, state, agentBound } = row
  const madeAt = instantOf(claimId)
  if (madeAt !== undefined && madeAt !== submittedAt) addProblem('submitted_at is not the time in its id')
  if (!isConsistentAccess(row)) addProblem('access contradicts connection_id or origin')
  if (agentBound !== 0 && agentBound !== 1) addProblem('agent_bound is neither 0 nor 1')

  const waits = [row.dueAt, row.nextCheckAt, row.momentAt]
  const outcome = [row.receiptId, row.verdict, row.reasonCode]
  if (state === 'queued') {
    if (waits.includes(null)) addProblem('it is queued without due_at, next_check_at or moment_at')
    if (outcome.some((value) => value !== null)) addProblem('it is queued, and has receipt_id, verdict or reason_code')
  } else if (state === 'decided') {
    if (waits.some((at) => at !== null)) addProblem('it is decided, and has due_at, next_check_at or moment_at')
  } else {
    addProblem('state is neither queued nor decided')
  }
  return problems
}

function isConsistentAccess({ access, connectionId, origin }: Row): boolean {
  if (origin !== null && access !== 'connection' && access !== 'anonymous') return false
  return connectionId === null ? ACCESSES_WITHOUT_CONNECTION.has(access) : access === 'connection'
}

/** The valid checks. */
export function recordsOf({ checks }: StoredClaim): CheckRecord[] {
  return checks.flatMap(({ record }) => record ?? [])
}

function digestHolds(row: Row): boolean {
  try {
    return claimDigest(row, sha256Text) === row.claimDigest
  } catch {
    // The time is outside the range of dates, or a text is not well-formed.
    return false
  }
}
