/** Receipts and claims exactly as stored, read from a line with many fields or from a row. */

import type { Row } from '../../storage/db.ts'
import { CLAIM_FIELDS, JSON_FIELDS, RECEIPT_FIELDS } from '../../storage/doctor-reads.ts'
import { SEPARATORS } from '../../storage/lines.ts'
import { parseJson } from './check-record.ts'

/** Values by column name; numbers are texts, bytes are hex, and null is the empty text. */
type Fields<Name extends string> = Readonly<Record<Name, string>>

type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string }

export type StoredReceipt = Fields<(typeof RECEIPT_FIELDS)[number]>

/** The fields of a claim in a line; those of JSON_FIELDS are JSON, and `checks` is one text. */
export type ClaimLine = Fields<(typeof CLAIM_FIELDS)[number]>
export type ReceiptLine = StoredReceipt & { readonly claim: ClaimLine }

export interface StoredClaim {
  readonly fields: Omit<ClaimLine, 'belongs' | 'checks'>
  /** True when its workspace exists, and its connection, if any, exists in that workspace. */
  readonly belongs: boolean
  /** Ordered by attempt. */
  readonly checks: readonly StoredCheck[]
}

export interface StoredCheck {
  readonly attempt: string
  readonly record: string
}

/** Undefined when a value contains a separator. */
export function readReceiptLine(line: string): ReceiptLine | undefined {
  const values = line.split(SEPARATORS.field)
  if (values.length !== RECEIPT_FIELDS.length + CLAIM_FIELDS.length) return undefined
  const [leaf_index, receipt_id, leaf_hash, issued_at, entry, evidence, erased] = values as unknown as Values<
    typeof RECEIPT_FIELDS
  >
  return {
    leaf_index,
    receipt_id,
    leaf_hash,
    issued_at,
    entry,
    evidence,
    erased,
    claim: toClaimLine(values.slice(RECEIPT_FIELDS.length)),
  }
}

/** Undefined when a value contains a separator. */
export function readClaimLine(line: string): ClaimLine | undefined {
  const values = line.split(SEPARATORS.field)
  return values.length === CLAIM_FIELDS.length ? toClaimLine(values) : undefined
}

export function claimOfLine({ belongs, checks, ...fields }: ClaimLine): StoredClaim {
  const plain: Record<string, string> = {}
  for (const name of JSON_FIELDS) plain[name] = String(parseJson(fields[name]))
  return {
    fields: { ...fields, ...plain },
    belongs: belongs === '1',
    checks: readChecks(checks, fields.last_check),
  }
}

export function receiptOfRow(row: Row): StoredReceipt {
  const [leaf_index, receipt_id, leaf_hash, issued_at, entry, evidence, erased] = RECEIPT_FIELDS.map((name) =>
    textOf(row[name]),
  ) as unknown as Values<typeof RECEIPT_FIELDS>
  return { leaf_index, receipt_id, leaf_hash, issued_at, entry, evidence, erased }
}

export function claimOfRow(row: Row, checks: readonly Row[]): StoredClaim {
  const { belongs, checks: _, ...fields } = toClaimLine(CLAIM_FIELDS.map((name) => textOf(row[name])))
  return {
    fields,
    belongs: belongs === '1',
    checks: checks.map(({ attempt, record }) => ({ attempt: textOf(attempt), record: textOf(record) })),
  }
}

/** Ordered by attempt. */
export function readChecks(text: string, lastCheck: string): StoredCheck[] {
  if (text === '') return []
  const checks = text.split(SEPARATORS.check).map((check) => {
    const [attempt = '', , record = lastCheck] = check.split(SEPARATORS.attempt)
    return { attempt, record }
  })
  return checks.sort((one, other) => Number(one.attempt) - Number(other.attempt))
}

// Written out, because setting the members one by one would take as long as the rest of the check of a receipt.
function toClaimLine(values: readonly string[]): ClaimLine {
  const [
    claim_id,
    client_claim_id,
    agent_id,
    agent_bound,
    action,
    target,
    params,
    claimed_at,
    deadline_at,
    submitted_at,
    claim_digest,
    access,
    connection_id,
    origin,
    submitted_by,
    profile_action,
    profile_version,
    state,
    attempts,
    due_at,
    next_check_at,
    moment_at,
    last_check,
    receipt_id,
    verdict,
    reason_code,
    belongs,
    checks,
  ] = values as unknown as Values<typeof CLAIM_FIELDS>
  return {
    claim_id,
    client_claim_id,
    agent_id,
    agent_bound,
    action,
    target,
    params,
    claimed_at,
    deadline_at,
    submitted_at,
    claim_digest,
    access,
    connection_id,
    origin,
    submitted_by,
    profile_action,
    profile_version,
    state,
    attempts,
    due_at,
    next_check_at,
    moment_at,
    last_check,
    receipt_id,
    verdict,
    reason_code,
    belongs,
    checks,
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
}
