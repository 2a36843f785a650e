/** The rows of claims and of their checks. */

import { hash } from 'node:crypto'
import type { CheckRecord, FreshReason, JsonObject, ReasonCode, VerdictValue } from '@claimcheck/core/rules'
import type { Payer } from '../base/payers.ts'
import { looksOf } from '../names/confusables.ts'
import type { Expressions } from './dialect.ts'
import {
  type Column,
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

/** The way in which a claim's destination is read, fixed at submission; with the last three values it cannot be read. */
export type Access = 'connection' | 'anonymous' | 'no_connection' | 'ambiguous_claim' | 'unsupported_action'

/** The uses of a field after it is stored. A field without uses is internal. */
interface Uses {
  /** True for a field that the claim's submitters see, in the API and in the console. */
  readonly isShown?: boolean
  /** True for a field that owners and operators get in exports. */
  readonly isExported?: boolean
  /** True for a field that a check changes. */
  readonly isChecked?: boolean
  /** Returns what erasure leaves of a field with content. */
  readonly left?: (claim: Content) => unknown
}

/** The members of a claim from which erasure computes what to leave. */
interface Content extends ClaimIdentity {
  readonly access: Access
  readonly action: string
  readonly profileAction: string
}

export interface ClaimIdentity {
  readonly workspaceId: string
  readonly clientClaimId: string
}

const SHOWN = { isShown: true, isExported: true } as const
const nothing = () => ''

/** Leaves the name of an action unless no plugin checks it: clients write such names freely. */
const ifKnown = (field: 'action' | 'profileAction') => (claim: Content) =>
  claim.access === 'unsupported_action' ? '' : claim[field]

/** Every field of a claim, described once: the table, what a check changes, what is shown, exported and erased follow from it. */
const FIELDS = {
  claimId: field(text('claim_id'), SHOWN),
  workspaceId: field(text('workspace_id'), {}),
  /** The payer when the claim was submitted. */
  payer: field(text<Payer>('payer'), {}),
  clientClaimId: field(text('client_claim_id'), { ...SHOWN, left: clientIdLeft }),
  agentId: field(text('agent_id'), { ...SHOWN, left: nothing }),
  /** 1 for a claim that was submitted through a key that was bound to this agent, also when the claim was stored. */
  agentBound: field(integer('agent_bound'), {}),
  action: field(text('action'), { ...SHOWN, left: ifKnown('action') }),
  target: field(text('target'), { ...SHOWN, left: nothing }),
  params: field(json<JsonObject>('params'), { isExported: true, left: () => ({}) }),
  claimedAt: field(instant('claimed_at'), SHOWN),
  deadlineAt: field(instant('deadline_at'), { isShown: true }),
  submittedAt: field(instant('submitted_at'), SHOWN),
  claimDigest: field(text('claim_digest'), { isShown: true, left: nothing }),
  access: field(text<Access>('access'), {}),
  connectionId: field(nullable(text('connection_id')), {}),
  /** The origin of the connection's or the public base address through which the claim is read; null where it cannot be read. */
  origin: field(nullable(text('origin')), { left: () => null }),
  /** The API key, OAuth grant or person that submitted the claim. */
  submittedBy: field(text('submitted_by'), {}),
  /**
   * The reason that the claim counts as submitted just after the deed (`freshnessOf` of core), if it does; null: stored by a version that did not
   * ask.
   */
  freshBy: field(nullable(text<FreshReason>('fresh_by')), {}),
  /** The W3C Trace Context of the request that submitted it. */
  traceparent: field(nullable(text('traceparent')), { ...SHOWN, left: () => null }),
  /** The profile that judges the claim, by its own name where the claim used an alias. */
  profileAction: field(text('profile_action'), { left: ifKnown('profileAction') }),
  profileVersion: field(text('profile_version'), {}),
  /** The digest of what decides in the profile; null without a profile, and in claims from before it was kept. */
  profileDigest: field(nullable(text('profile_digest')), {}),
  state: field(text<'queued' | 'decided'>('state'), { ...SHOWN, isChecked: true }),
  attempts: field(integer('attempts'), { isShown: true, isChecked: true }),
  /** The time when a worker gets the claim next; null once decided. */
  dueAt: field(nullable(instant('due_at')), { isChecked: true }),
  nextCheckAt: field(nullable(instant('next_check_at')), { isShown: true, isChecked: true }),
  /** The time from which the claim's checks go before those that only look (`NextCheck` of core); null once decided. */
  momentAt: field(nullable(instant('moment_at')), { isChecked: true }),
  /** 1 for a claim that is looked at so often that every state of half a minute is seen. Its first check decides whether it is. */
  watched: field(integer('watched'), { isChecked: true }),
  /** 1 for a claim that its recorded checks decide, while the decision could not be signed yet. */
  unsigned: field(integer('unsigned'), { isChecked: true }),
  /** 1 for a claim that ended because the connection under which it was submitted was removed. */
  connectionRemoved: field(integer('connection_removed'), { isChecked: true }),
  lastCheck: field(large(nullable(json<CheckRecord>('last_check'))), {
    isShown: true,
    isChecked: true,
    left: () => null,
  }),
  receiptId: field(nullable(text('receipt_id')), { ...SHOWN, isChecked: true }),
  /** The log that has the receipt, which only the statement that stores the claim knows. */
  logId: field(nullable(text('log_id')), {}),
  verdict: field(nullable(text<VerdictValue>('verdict')), { ...SHOWN, isChecked: true }),
  reasonCode: field(nullable(text<ReasonCode>('reason_code')), { ...SHOWN, isChecked: true }),
} as const

type ClaimFields = typeof FIELDS

/** Names of the fields that have a use. */
type FieldWith<Use extends keyof Uses> = {
  [Name in keyof ClaimFields]: Use extends keyof ClaimFields[Name]['uses'] ? Name : never
}[keyof ClaimFields]

type Columns = { readonly [Name in keyof ClaimFields]: ClaimFields[Name]['column'] }

function field<T, const U extends Uses>(column: Column<T>, uses: U) {
  return { column, uses }
}

function fieldsWith<Use extends keyof Uses>(use: Use): readonly FieldWith<Use>[] {
  const fields: readonly (readonly [string, { readonly uses: Uses }])[] = Object.entries(FIELDS)
  return fields.flatMap(([name, { uses }]) => (uses[use] ? [name as FieldWith<Use>] : []))
}

const columns = Object.fromEntries(Object.entries(FIELDS).map(([name, { column }]) => [name, column])) as Columns

export const claims = table('claims', ['claimId'], columns)

/** The columns of a client's own id for a claim, which names one claim of its workspace. */
export const clientIds = part(claims, 'workspaceId', 'clientClaimId')

/** The length of what erasure leaves of a client's own id: longer than any such id, so that no claim can have it already. */
const LENGTH_LEFT = 300

/**
 * Returns what erasure leaves of the client's own id: enough to know it again, so that the same claim that is submitted again gets no second receipt.
 */
export function clientIdLeft({ workspaceId, clientClaimId }: ClaimIdentity): string {
  return `erased:${hash('sha256', `${workspaceId} ${clientClaimId}`, 'hex')}`.padEnd(LENGTH_LEFT, '.')
}

export function isClientIdLeft(clientClaimId: string): boolean {
  return /^erased:[0-9a-f]{64}\.*$/.test(clientClaimId) && clientClaimId.length === LENGTH_LEFT
}

export type NewClaim = ClaimRow

/** The columns of a claim for a statement that stores it. */
export const newClaims: Table<NewClaim> = table('claims', ['claimId'], {
  ...columns,
  clientIdLeft: computed(text('client_id_left'), clientIdLeft),
  look: computed(text('look'), ({ agentId, agentBound }: NewClaim) => (agentBound === 1 ? '' : looksOf(agentId)[0]!)),
  otherLook: computed(text('other_look'), ({ agentId, agentBound }: NewClaim) =>
    agentBound === 1 ? '' : looksOf(agentId).at(-1)!,
  ),
})

/** Lists a new claim's columns for a SELECT, with this log where the claim has a receipt. */
export function storedClaims(logId: string): string {
  return claims.columns.map(({ name }) => (name === 'log_id' ? logOfReceipt(logId, 'receipt_id') : name)).join(', ')
}

/** Makes SQL for `log_id`: the log where there is a receipt, else null. */
export function logOfReceipt(logId: string, receiptId: string): string {
  return `CASE WHEN ${receiptId} IS NULL THEN NULL ELSE ${logId} END`
}

/** Tells whether the content of a claim was erased. An agent's id, which clients write, is never empty before. */
export function isErased({ agentId }: Pick<RowOf<typeof claims>, 'agentId'>): boolean {
  return agentId === ''
}

const CHECKED = fieldsWith('isChecked')

/** The columns that a check changes in the row of its claim, beside `last_check`. */
export const checked = part(claims, ...CHECKED.filter((name) => name !== 'lastCheck'))

/** The columns that a check changes in the row of its claim, with the claim's id. */
export const progress = part(claims, 'claimId', ...CHECKED)

export const checks = table('checks', ['claimId', 'attempt'], {
  claimId: text('claim_id'),
  attempt: integer('attempt'),
  record: json<CheckRecord>('record'),
})

export type ClaimRow = RowOf<typeof claims>
/** The part of a claim that its submitters see. */
export type ShownClaim = Pick<ClaimRow, FieldWith<'isShown'>>
/** The part of a claim that is exported. */
export type ExportedClaim = Pick<ClaimRow, FieldWith<'isExported'>>

/** The columns of a claim that are exported, in this order. */
export const EXPORTED = part(claims, ...fieldsWith('isExported')).columns

/** The columns of a claim that hold its content, and its id. */
export const content = part(claims, 'claimId', ...fieldsWith('left'))

export type ErasedContent = RowOf<typeof content>

/** Returns what a claim holds once its content is erased. Ids, times, counts and the verdict stay. */
export function contentLeft(claim: ClaimRow): ErasedContent {
  const left = fieldsWith('left').map((name) => [name, FIELDS[name].uses.left(claim)])
  return { claimId: claim.claimId, ...Object.fromEntries(left) }
}
export type ClaimProgress = RowOf<typeof progress>

/** The join of a claim with its receipt, in whichever log that is: receipt ids are unique over all claims. */
export const RECEIPT_OF_CLAIM = 'receipts.log_id = claims.log_id AND receipts.receipt_id = claims.receipt_id'

/**
 * The condition of an undecided claim, for look-ups by ids. Written as `state = 'queued'`, Postgres could choose the queue's index, which is slower
 * here.
 */
export const UNDECIDED = `state <> 'decided'`

/**
 * Makes the condition under which a new claim may be stored, beside the unique index, which refuses a client_claim_id that a claim has already. None
 * is stored either with what erasure left of such an id; the statement sees every claim that could be erased by now: one that was decided since it
 * began has changed the log. An agent that is bound, and what looks like it, speaks through its own keys alone, and a key speaks for it as bound only
 * while it is good: the key was looked up before the body arrived, and may have ended since.
 * @param row the claim's name in the statement
 */
export function mayBeStored({ includes }: Pick<Expressions, 'includes'>, row: string): string {
  // The condition names erased claims only (`isErased`): a plan that Postgres made while the table was empty may look at all rows of a workspace that
  // it covers, and stays until its statistics are made.
  return `NOT EXISTS (SELECT 1 FROM claims AS known WHERE known.workspace_id = ${row}.workspace_id
      AND known.client_claim_id = ${row}.client_id_left AND known.agent_id = '')
    AND CASE WHEN ${row}.agent_bound = 1
    THEN EXISTS (SELECT 1 FROM api_keys AS speaker
      WHERE speaker.id = ${row}.submitted_by AND speaker.workspace_id = ${row}.workspace_id
        AND speaker.revoked_at IS NULL AND (speaker.expires_at IS NULL OR speaker.expires_at > ${row}.submitted_at)
        AND ${includes('speaker.agent_ids', `${row}.agent_id`)})
    ELSE NOT EXISTS (SELECT 1 FROM bound_agents AS bound
        WHERE bound.workspace_id = ${row}.workspace_id AND bound.agent_id = ${row}.agent_id)
      AND NOT EXISTS (SELECT 1 FROM bound_looks AS alike
        WHERE alike.workspace_id = ${row}.workspace_id AND alike.look IN (${row}.look, ${row}.other_look)) END`
}

/** Makes the statement that adds the last check of each of these claims, where it has one, to its history. */
export function keepChecks(rows: string): string {
  return `INSERT INTO checks (claim_id, attempt, record)
    SELECT claim_id, attempts, last_check FROM ${rows} AS checked WHERE last_check IS NOT NULL`
}
