/** Receipts and claims as they are stored. */
import type { CheckRecord } from '@claimcheck/core/rules'
import { claims } from '../../../storage/claim-row.ts'
import type { Row } from '../../../storage/db.ts'
import { type ReceiptRow, receipts } from '../../../storage/log.ts'
import type { Reads } from '../../../storage/storage.ts'
import { part, type RowOf } from '../../../storage/table.ts'
import { readRecord } from './check-record.ts'

const fields = claims.columns.map(({ field }) => field as Exclude<keyof RowOf<typeof claims>, 'lastCheck'>)
/** Without the last check, which `checks` has as well. */
const claimsAlone = part(claims, ...fields.filter((field: string) => field !== 'lastCheck'))

export interface StoredReceipt extends ReceiptRow {
  /** Null where there is none. */
  readonly evidence: string | null
  /** A row says so. */
  readonly isErased: boolean
}

export interface StoredClaim {
  readonly claimId: string
  /** Undefined where a column is malformed. */
  readonly row: RowOf<typeof claimsAlone> | undefined
  /** The columns that hold what the service never writes. */
  readonly malformed: readonly string[]
  /** As text. */
  readonly lastCheck: string | null
  /** True when its workspace exists, and its connection, if any, exists in that workspace. */
  readonly belongs: boolean
  /** Ordered by attempt. */
  readonly checks: readonly StoredCheck[]
}

export interface StoredCheck {
  readonly attempt: number
  readonly text: string
  /** Undefined when the text is not a valid record. */
  readonly record: CheckRecord | undefined
}

export function receiptOfRow(row: Row): StoredReceipt {
  const receipt = receipts.read(row)
  // SQLite stores text in a column of bytes when a statement gives it text.
  const leafHash = receipt.leafHash instanceof Uint8Array ? receipt.leafHash : Buffer.from(String(receipt.leafHash))
  return {
    ...receipt,
    leafHash,
    evidence: row.evidence === null ? null : String(row.evidence),
    isErased: row.erased === '1',
  }
}

/** Each claim with its checks, by its id. */
export async function claimsWithChecks(
  doctor: Reads['doctor'],
  rows: readonly Row[],
): Promise<Map<string, StoredClaim>> {
  const checks = new Map<string, StoredCheck[]>(rows.map(({ claim_id }) => [String(claim_id), []]))
  for (const { claim_id, attempt, record } of await doctor.checks([...checks.keys()])) {
    const text = String(record)
    checks.get(String(claim_id))?.push({ attempt: Number(attempt), text, record: readRecord(text) })
  }
  return new Map(
    rows.map((stored) => {
      const claimId = String(stored.claim_id)
      const lastCheck = stored.last_check === null ? null : String(stored.last_check)
      const belongs = Number(stored.belongs) === 1
      return [claimId, { claimId, ...readClaim(stored), lastCheck, belongs, checks: checks.get(claimId)! }]
    }),
  )
}

function readClaim(stored: Row): Pick<StoredClaim, 'row' | 'malformed'> {
  const malformed: string[] = []
  try {
    const row = claimsAlone.read(stored)
    const cells = claimsAlone.cells(row)
    for (const [index, { name, type, isNullable }] of claimsAlone.columns.entries()) {
      const cell = cells[index]!
      const isWritten =
        cell === null ? isNullable : (type === 'text' || Number.isSafeInteger(cell)) && String(cell) === stored[name]
      if (!isWritten) malformed.push(name)
    }
    return { row: malformed.length === 0 ? row : undefined, malformed }
  } catch {
    // The only JSON here.
    return { row: undefined, malformed: ['params'] }
  }
}
