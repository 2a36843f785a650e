/** Receipts and claims exactly as stored: their rows, and each column as text. */
import type { ClaimRow } from '../../../storage/claim-row.ts'
import { claims } from '../../../storage/claim-row.ts'
import type { Row } from '../../../storage/db.ts'
import { type ReceiptRow, receipts } from '../../../storage/log.ts'
import type { Reads } from '../../../storage/storage.ts'
import type { Table } from '../../../storage/table.ts'

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

/** Values by column name; numbers are texts, bytes are hex, and null is the empty text. */
type Fields<R> = Readonly<Record<SnakeCase<keyof R & string>, string>>

export interface StoredReceipt extends Fields<ReceiptRow> {
  /** The document, empty where there is none. */
  readonly evidence: string
  /** 1 with a row that says so. */
  readonly erased: string
}

export interface StoredClaim {
  readonly fields: Fields<ClaimRow>
  readonly row: Row
  /** True when its workspace exists, and its connection, if any, exists in that workspace. */
  readonly belongs: boolean
  /** Ordered by attempt. */
  readonly checks: readonly StoredCheck[]
}

export interface StoredCheck {
  readonly attempt: string
  readonly record: string
}

export function receiptOfRow(row: Row): StoredReceipt {
  return { ...fieldsOf<ReceiptRow>(receipts, row), evidence: textOf(row.evidence), erased: textOf(row.erased) }
}

/** Each claim with its checks, by its id. */
export async function claimsWithChecks(
  doctor: Reads['doctor'],
  rows: readonly Row[],
): Promise<Map<string, StoredClaim>> {
  const checks = new Map<string, StoredCheck[]>(rows.map(({ claim_id }) => [textOf(claim_id), []]))
  for (const { claim_id, attempt, record } of await doctor.checks([...checks.keys()])) {
    checks.get(textOf(claim_id))?.push({ attempt: textOf(attempt), record: textOf(record) })
  }
  return new Map(
    rows.map((row) => {
      const fields = fieldsOf<ClaimRow>(claims, row)
      return [
        fields.claim_id,
        { fields, row, belongs: Number(row.belongs) === 1, checks: checks.get(fields.claim_id)! },
      ]
    }),
  )
}

function fieldsOf<R>({ columns }: Table<R>, row: Row): Fields<R> {
  const fields: Record<string, string> = {}
  for (const { name } of columns) fields[name] = textOf(row[name])
  return fields as Fields<R>
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
    : String(value)
}
