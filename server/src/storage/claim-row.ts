/** A claim between its row and what the rest sees of it. */
import type { CheckRecord, Instant, JsonObject, ReasonCode, VerdictValue } from '@claimcheck/core'
import type { Row } from './db.ts'
import { type Cells, type Columns, nullableNumber, nullableText } from './rows.ts'

/** How a claim's destination is read, fixed at submission; the last three can not be read at all. */
export type Access = 'connection' | 'anonymous' | 'no_connection' | 'ambiguous_claim' | 'unsupported_action'

export interface ClaimRow {
  readonly claimId: string
  readonly workspaceId: string
  readonly clientClaimId: string
  readonly agentId: string
  readonly action: string
  readonly target: string
  readonly params: JsonObject
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
  readonly submittedAt: Instant
  readonly claimDigest: string
  readonly access: Access
  readonly connectionId: string | null
  /** The profile that judges it: its own name, whatever alias was claimed. */
  readonly profileAction: string
  readonly profileVersion: string
  readonly state: 'queued' | 'decided'
  readonly attempts: number
  readonly dueAt: Instant | null
  readonly nextCheckAt: Instant | null
  readonly lastCheck: CheckRecord | null
  readonly receiptId: string | null
  readonly verdict: VerdictValue | null
  readonly reasonCode: ReasonCode | null
}

/** The part of a claim that a check changes. */
export type ClaimProgress = Pick<
  ClaimRow,
  'claimId' | 'state' | 'attempts' | 'dueAt' | 'nextCheckAt' | 'lastCheck' | 'receiptId' | 'verdict' | 'reasonCode'
>

/** What a check changes. */
export const PROGRESS: Columns = {
  state: 'text',
  attempts: 'integer',
  due_at: 'bigint',
  next_check_at: 'bigint',
  last_check: 'text',
  receipt_id: 'text',
  verdict: 'text',
  reason_code: 'text',
}

export const CLAIMS: Columns = {
  claim_id: 'text',
  workspace_id: 'text',
  client_claim_id: 'text',
  agent_id: 'text',
  action: 'text',
  target: 'text',
  params: 'text',
  claimed_at: 'bigint',
  deadline_at: 'bigint',
  submitted_at: 'bigint',
  claim_digest: 'text',
  access: 'text',
  connection_id: 'text',
  profile_action: 'text',
  profile_version: 'text',
  ...PROGRESS,
}
/** Of claims that are looked up by their ids. Said in these words it does not let Postgres take the queue's index for a shorter way to them. */
export const UNDECIDED = `state <> 'decided'`

/** The statement that makes the last check of each of these claims part of its history, where it has one. */
export function keepChecks(claims: string): string {
  return `INSERT INTO checks (claim_id, attempt, record)
    SELECT claim_id, attempts, last_check FROM ${claims} AS checked WHERE last_check IS NOT NULL`
}

/** In the order of the columns. */
export function toCells(claim: ClaimRow): Cells {
  return [
    claim.claimId,
    claim.workspaceId,
    claim.clientClaimId,
    claim.agentId,
    claim.action,
    claim.target,
    JSON.stringify(claim.params),
    claim.claimedAt,
    claim.deadlineAt,
    claim.submittedAt,
    claim.claimDigest,
    claim.access,
    claim.connectionId,
    claim.profileAction,
    claim.profileVersion,
    ...progressCells(claim),
  ]
}

/** In the order of PROGRESS. */
export function progressCells(claim: ClaimProgress): Cells {
  return [
    claim.state,
    claim.attempts,
    claim.dueAt,
    claim.nextCheckAt,
    claim.lastCheck && JSON.stringify(claim.lastCheck),
    claim.receiptId,
    claim.verdict,
    claim.reasonCode,
  ]
}

export function toClaim(row: Row): ClaimRow {
  return {
    claimId: String(row.claim_id),
    workspaceId: String(row.workspace_id),
    clientClaimId: String(row.client_claim_id),
    agentId: String(row.agent_id),
    action: String(row.action),
    target: String(row.target),
    params: JSON.parse(String(row.params)),
    claimedAt: Number(row.claimed_at),
    deadlineAt: Number(row.deadline_at),
    submittedAt: Number(row.submitted_at),
    claimDigest: String(row.claim_digest),
    access: row.access as Access,
    connectionId: nullableText(row.connection_id),
    profileAction: String(row.profile_action),
    profileVersion: String(row.profile_version),
    state: row.state as ClaimRow['state'],
    attempts: Number(row.attempts),
    dueAt: nullableNumber(row.due_at),
    nextCheckAt: nullableNumber(row.next_check_at),
    lastCheck: row.last_check === null ? null : JSON.parse(String(row.last_check)),
    receiptId: nullableText(row.receipt_id),
    verdict: row.verdict as VerdictValue | null,
    reasonCode: row.reason_code as ReasonCode | null,
  }
}
