/** A claim as it is stored, and each of its checks. */
import { hash } from 'node:crypto'
import type { CheckRecord, JsonObject, ReasonCode, VerdictValue } from '@claimcheck/core'
import type { Expressions } from './dialect.ts'
import {
  computed,
  instant,
  integer,
  json,
  large,
  nullable,
  part,
  type RowOf,
  type Table,
  table,
  text,
} from './table.ts'

/** How a claim's destination is read, fixed at submission; with the last three it cannot be read. */
export type Access = 'connection' | 'anonymous' | 'no_connection' | 'ambiguous_claim' | 'unsupported_action'

const columns = {
  claimId: text('claim_id'),
  workspaceId: text('workspace_id'),
  clientClaimId: text('client_claim_id'),
  agentId: text('agent_id'),
  /** 1: submitted through a key that was bound to this agent, also when it was stored. */
  agentBound: integer('agent_bound'),
  action: text('action'),
  target: text('target'),
  params: json<JsonObject>('params'),
  claimedAt: instant('claimed_at'),
  deadlineAt: instant('deadline_at'),
  submittedAt: instant('submitted_at'),
  claimDigest: text('claim_digest'),
  access: text<Access>('access'),
  connectionId: nullable(text('connection_id')),
  /** Where it is read: the origin of the connection's or the public base address. null where it cannot be read. */
  origin: nullable(text('origin')),
  /** The API key, OAuth grant or person that submitted it. */
  submittedBy: text('submitted_by'),
  /** The profile that judges the claim, by its own name where the claim used an alias. */
  profileAction: text('profile_action'),
  profileVersion: text('profile_version'),
  state: text<'queued' | 'decided'>('state'),
  attempts: integer('attempts'),
  /** When it is next handed to a worker; null once decided. */
  dueAt: nullable(instant('due_at')),
  nextCheckAt: nullable(instant('next_check_at')),
  /** From then on its checks go before those that only look (`NextCheck` of core); null once decided. */
  momentAt: nullable(instant('moment_at')),
  lastCheck: large(nullable(json<CheckRecord>('last_check'))),
  receiptId: nullable(text('receipt_id')),
  /** The log that has the receipt: the statement that stores this knows it. */
  logId: nullable(text('log_id')),
  verdict: nullable(text<VerdictValue>('verdict')),
  reasonCode: nullable(text<ReasonCode>('reason_code')),
}

export const claims = table('claims', ['claimId'], columns)

/** A client's own id for a claim, which names one claim of its workspace. */
export const clientIds = part(claims, 'workspaceId', 'clientClaimId')

export type ClaimIdentity = RowOf<typeof clientIds>

/** Longer than any client's own id, so that no claim can have it already. */
const LENGTH_LEFT = 300

/**
 * What erasure leaves of the client's own id: enough to know it again, so that the same claim that is submitted again gets no second receipt.
 */
export function clientIdLeft({ workspaceId, clientClaimId }: ClaimIdentity): string {
  return `erased:${hash('sha256', `${workspaceId} ${clientClaimId}`, 'hex')}`.padEnd(LENGTH_LEFT, '.')
}

export function isClientIdLeft(clientClaimId: string): boolean {
  return /^erased:[0-9a-f]{64}\.*$/.test(clientClaimId) && clientClaimId.length === LENGTH_LEFT
}

/** A claim that is to be stored. */
export interface NewClaim extends ClaimRow {
  /** The key that it came through, where that was remembered and not looked up: the statement that stores the claim looks at it. */
  readonly unconfirmedKey?: string | null
}

/** A claim as it is given to a statement that stores it. */
export const newClaims: Table<NewClaim> = table('claims', ['claimId'], {
  ...columns,
  clientIdLeft: computed(text('client_id_left'), clientIdLeft),
  unconfirmedKey: nullable(text('unconfirmed_key')),
})

/** The columns of a new claim as they are stored, with this log where it has a receipt. */
export function storedClaims(logId: string): string {
  return claims.columns.map(({ name }) => (name === 'log_id' ? logOfReceipt(logId, 'receipt_id') : name)).join(', ')
}

/** What `log_id` becomes. */
export function logOfReceipt(logId: string, receiptId: string): string {
  return `CASE WHEN ${receiptId} IS NULL THEN NULL ELSE ${logId} END`
}

/** Whether the content of a claim was erased: what clients write is never empty. */
export function isErased({ agentId }: Pick<RowOf<typeof claims>, 'agentId'>): boolean {
  return agentId === ''
}

const CHECKED = [
  'state',
  'attempts',
  'dueAt',
  'nextCheckAt',
  'momentAt',
  'lastCheck',
  'receiptId',
  'verdict',
  'reasonCode',
] as const

/** What a check changes in the row of its claim. */
export const checked = part(claims, ...CHECKED)

/** The same, with the claim's id. */
export const progress = part(claims, 'claimId', ...CHECKED)

export const checks = table('checks', ['claimId', 'attempt'], {
  claimId: text('claim_id'),
  attempt: integer('attempt'),
  record: json<CheckRecord>('record'),
})

export type ClaimRow = RowOf<typeof claims>
export type ClaimProgress = RowOf<typeof progress>

/** The receipt of a claim, in whichever log it is: receipt ids are unique over all claims. */
export const RECEIPT_OF_CLAIM = 'receipts.log_id = claims.log_id AND receipts.receipt_id = claims.receipt_id'

/** For claims that are looked up by their ids. Written as `state = 'queued'`, Postgres could choose the queue's index, which is slower here. */
export const UNDECIDED = `state <> 'decided'`

/**
 * Whether a new claim may be stored, beside what the unique index refuses: a client_claim_id that a claim has already. None is stored either
 * with what erasure left of that; the statement sees every claim that could be erased by now: one that was decided since it began has changed
 * the log. And an agent that is bound speaks through its own keys alone, and a key speaks for it as bound only while it is good. The key was
 * looked up before the body arrived, and may have ended since. A key that was remembered has to be good now, for every agent and from
 * everywhere: only such keys are remembered.
 * @param row the claim's name in the statement
 */
export function mayBeStored({ includes }: Pick<Expressions, 'includes'>, row: string): string {
  const isGood = (key: string, id: string) => `${key}.id = ${row}.${id} AND ${key}.workspace_id = ${row}.workspace_id
        AND ${key}.revoked_at IS NULL AND (${key}.expires_at IS NULL OR ${key}.expires_at > ${row}.submitted_at)`
  // Only erased claims are looked at (`isErased`): a plan that Postgres made while the table was empty may look at all that this names of a
  // workspace, and stays until its statistics are made.
  return `NOT EXISTS (SELECT 1 FROM claims AS known WHERE known.workspace_id = ${row}.workspace_id
      AND known.client_claim_id = ${row}.client_id_left AND known.agent_id = '')
    AND CASE WHEN ${row}.agent_bound = 1
    THEN EXISTS (SELECT 1 FROM api_keys AS speaker
      WHERE ${isGood('speaker', 'submitted_by')} AND ${includes('speaker.agent_ids', `${row}.agent_id`)})
    ELSE NOT EXISTS (SELECT 1 FROM bound_agents AS bound
      WHERE bound.workspace_id = ${row}.workspace_id AND bound.agent_id = ${row}.agent_id) END
    AND (${row}.unconfirmed_key IS NULL OR EXISTS (SELECT 1 FROM api_keys AS used
      WHERE ${isGood('used', 'unconfirmed_key')} AND used.networks = '[]' AND used.agent_ids IS NULL))`
}

/** The statement that adds the last check of each of these claims, where it has one, to its history. */
export function keepChecks(rows: string): string {
  return `INSERT INTO checks (claim_id, attempt, record)
    SELECT claim_id, attempts, last_check FROM ${rows} AS checked WHERE last_check IS NOT NULL`
}
