/** Receipts and claims as they are stored. */
import { type CheckRecord, type Instant, jsonIn } from '@claimcheck/core/rules'
import { claims } from '../../../storage/claim-row.ts'
import type { Row } from '../../../storage/db.ts'
import { type ReceiptRow, receipts } from '../../../storage/log.ts'
import type { Column, RowOf } from '../../../storage/table.ts'
import { readRecord } from './check-record.ts'

/** Without the last check, which `checks` has as well. */
type ClaimAlone = Omit<RowOf<typeof claims>, 'lastCheck'>

const COLUMNS = [...claims.columns.entries()].filter(([, { name }]) => name !== 'last_check')
const LAST_CHECK = claims.columns.findIndex(({ name }) => name === 'last_check')

export interface StoredReceipt extends ReceiptRow {
  /** Null where there is none. */
  readonly evidence: string | null
  /** A row says so. */
  readonly isErased: boolean
}

export interface StoredClaim {
  readonly claimId: string
  /** Undefined where a column is malformed. */
  readonly row: ClaimAlone | undefined
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

/** The bounds that a signed head sets for its leaves. */
export interface HeadBounds {
  /** The key that signed the head; undefined when it is unknown. */
  readonly keyId: string | undefined
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** The examination of one leaf. */
export interface Examination {
  /** The hash of its entry. */
  readonly leafHash: Uint8Array
  readonly problems: readonly string[]
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

/** Reads a claim with its checks, as `doctorReads` gives them; undefined where a receipt has none. */
export function claimOfRow({ claim, belongs, checks }: Row): StoredClaim | undefined {
  if (claim === null) return undefined
  const texts: readonly (string | null)[] = JSON.parse(String(claim))
  const lastCheck = texts[LAST_CHECK] ?? null
  const all: [attempt: number, record: string | null][] = checks === null ? [] : JSON.parse(String(checks))
  return {
    ...readClaim(texts),
    lastCheck,
    belongs: Number(belongs) === 1,
    checks: all
      .sort(([one], [other]) => one - other)
      .map(([attempt, record]) => {
        const text = record ?? lastCheck!
        return { attempt, text, record: readRecord(text) }
      }),
  }
}

function readClaim(texts: readonly (string | null)[]): Pick<StoredClaim, 'claimId' | 'row' | 'malformed'> {
  const row: Record<string, unknown> = {}
  const malformed: string[] = []
  for (const [index, column] of COLUMNS) {
    const value = readAsWritten(column, texts[index]!)
    if (value === undefined) malformed.push(column.name)
    row[column.field] = value
  }
  return {
    claimId: String(row.claimId),
    row: malformed.length === 0 ? (row as unknown as ClaimAlone) : undefined,
    malformed,
  }
}

/** Reads a column of a claim; undefined where it holds what the service never writes. */
function readAsWritten({ type, isJson, isNullable }: Column, text: string | null): unknown {
  if (text === null) return isNullable ? null : undefined
  if (type === 'text' && !isJson) return text
  const value = isJson ? jsonIn(text) : Number(text)
  const written = isJson ? JSON.stringify(value) : Number.isSafeInteger(value) && String(value)
  return written === text ? value : undefined
}
