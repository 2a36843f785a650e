/** Receipts and claims exactly as they are stored, whether they came in a line of many or as a row of their own. */
import { CLAIM_FIELDS, JSON_FIELDS, RECEIPT_FIELDS } from '../../storage/audit.ts'
import type { Row } from '../../storage/db.ts'
import { SEPARATORS } from '../../storage/lines.ts'
import { parseJson } from './check-record.ts'

/** By their columns' names; numbers are texts, bytes are hex, and null is empty. */
type Fields<Name extends string> = Readonly<Record<Name, string>>

type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string }

export type StoredReceipt = Fields<(typeof RECEIPT_FIELDS)[number]>

/** A claim's fields in a line: of JSON_FIELDS the JSON, and `checks` in one text. */
export type ClaimLine = Fields<(typeof CLAIM_FIELDS)[number]>
export type ReceiptLine = StoredReceipt & { readonly claim: ClaimLine }

export interface StoredClaim {
  readonly fields: Omit<ClaimLine, 'belongs' | 'checks'>
  /** Its workspace, and its connection if it names one, are there and belong together. */
  readonly belongs: boolean
  /** By attempt. */
  readonly checks: readonly StoredCheck[]
}

export interface StoredCheck {
  readonly attempt: string
  readonly record: string
}

/** Undefined when a separator is where none should be. */
export function readReceiptLine(line: string): ReceiptLine | undefined {
  const values = line.split(SEPARATORS.field)
  if (values.length !== RECEIPT_FIELDS.length + CLAIM_FIELDS.length) return undefined
  const [leaf_index, receipt_id, leaf_hash, issued_at, entry, evidence] = values as unknown as Values<
    typeof RECEIPT_FIELDS
  >
  return {
    leaf_index,
    receipt_id,
    leaf_hash,
    issued_at,
    entry,
    evidence,
    claim: toClaimLine(values.slice(RECEIPT_FIELDS.length)),
  }
}

/** Undefined when a separator is where none should be. */
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
  const [leaf_index, receipt_id, leaf_hash, issued_at, entry, evidence] = RECEIPT_FIELDS.map((name) =>
    textOf(row[name]),
  ) as unknown as Values<typeof RECEIPT_FIELDS>
  return { leaf_index, receipt_id, leaf_hash, issued_at, entry, evidence }
}

export function claimOfRow(row: Row, checks: readonly Row[]): StoredClaim {
  const { belongs, checks: _, ...fields } = toClaimLine(CLAIM_FIELDS.map((name) => textOf(row[name])))
  return {
    fields,
    belongs: belongs === '1',
    checks: checks.map(({ attempt, record }) => ({ attempt: textOf(attempt), record: textOf(record) })),
  }
}

/** By attempt. */
export function readChecks(text: string, lastCheck: string): StoredCheck[] {
  if (text === '') return []
  const checks = text.split(SEPARATORS.check).map((check) => {
    const [attempt = '', , record = lastCheck] = check.split(SEPARATORS.attempt)
    return { attempt, record }
  })
  return checks.sort((one, other) => Number(one.attempt) - Number(other.attempt))
}

// Written out: an object that is made name by name takes as long as all other looking at a receipt.
function toClaimLine(values: readonly string[]): ClaimLine {
  const [
    claim_id,
    client_claim_id,
    agent_id,
    action,
    target,
    params,
    claimed_at,
    deadline_at,
    submitted_at,
    claim_digest,
    access,
    connection_id,
    profile_action,
    profile_version,
    state,
    attempts,
    due_at,
    next_check_at,
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
    action,
    target,
    params,
    claimed_at,
    deadline_at,
    submitted_at,
    claim_digest,
    access,
    connection_id,
    profile_action,
    profile_version,
    state,
    attempts,
    due_at,
    next_check_at,
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
