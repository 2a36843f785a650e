/** Finds the problems of a claim from its row and its checks. */

import { claimDigest } from '@claimcheck/core/receipts'
import type { CheckRecord } from '@claimcheck/core/rules'
import { instantOf } from '../../../base/ids.ts'
import { sentencesThatHold } from '../../../base/problems.ts'
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
  const whole = { ...row, lastCheck: null }
  const [kept, left] = [whole, contentLeft(whole)].map((one) => content.cells(one))
  const full = content.columns.filter(({ field }, index) => field !== 'clientClaimId' && kept![index] !== left![index])
  const found = [
    ...full.map(({ name }) => `${name} has content`),
    ...sentencesThatHold({
      'last_check has content': lastCheck !== null,
      'client_claim_id is not what an erasure leaves of it': !isClientIdLeft(row.clientClaimId),
      'it is not decided': row.state !== 'decided',
      'its checks are there': checks.length > 0,
    }),
  ]
  return [...problems, ...found.map((problem) => `claim ${claimId}: it is erased, and ${problem}`)]
}

function examineRow({ claimId, row, malformed, belongs }: StoredClaim): string[] {
  const found = [
    ...malformed.map((column) => `${column} holds what the service never writes`),
    ...(belongs
      ? []
      : ['its workspace_id, payer or connection_id does not exist, or the connection is of another workspace']),
    ...(row ? rowProblems(claimId, row) : []),
  ]
  return found.map((problem) => `claim ${claimId}: ${problem}`)
}

function rowProblems(claimId: string, row: Row): string[] {
  const { submittedAt, state, agentBound } = row
  const madeAt = instantOf(claimId) ?? submittedAt
  const [isQueued, isDecided] = [state === 'queued', state === 'decided']
  const waits = [row.dueAt, row.nextCheckAt, row.momentAt]
  const hasOutcome = [row.receiptId, row.verdict, row.reasonCode].some((value) => value !== null)
  return sentencesThatHold({
    'submitted_at is not the time in its id': madeAt !== submittedAt,
    'access contradicts connection_id or origin': !isConsistentAccess(row),
    'agent_bound is neither 0 nor 1': agentBound !== 0 && agentBound !== 1,
    'it is queued without due_at, next_check_at or moment_at': isQueued && waits.includes(null),
    'it is queued, and has receipt_id, verdict or reason_code': isQueued && hasOutcome,
    'it is decided, and has due_at, next_check_at or moment_at': isDecided && waits.some((at) => at !== null),
    'state is neither queued nor decided': !isQueued && !isDecided,
  })
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
