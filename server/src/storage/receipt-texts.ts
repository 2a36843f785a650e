/** Receipts as they are handed out: looked up by id, many in one text, with the log that they are proven in. */
import type { Db } from './db.ts'
import { type Dialect, perDialect } from './dialect.ts'
import { linesOf, readLines, SEPARATORS } from './lines.ts'
import { ANCHORED_LOG_COLUMNS, type AnchoredLogState, toAnchoredState } from './log-state.ts'

export interface ReceiptTexts {
  /** Read at the same moment: its tree holds each of the receipts. */
  readonly state: AnchoredLogState
  /** In any order. */
  readonly receipts: readonly ReceiptText[]
}

export interface ReceiptText {
  readonly receiptId: string
  readonly leafIndex: number
  /** In hex. */
  readonly leafHash: string
  /** JCS of { body, signature }. */
  readonly entry: string
}

const statementsOf = perDialect(({ texts, lines }: Dialect) => {
  const found = `FROM receipts WHERE receipt_id IN ${texts}`
  const text = linesOf(lines, ['receipt_id', 'leaf_index', lines.hex('leaf_hash'), 'entry'])
  return {
    withLines: `SELECT ${ANCHORED_LOG_COLUMNS}, (SELECT ${text} ${found}) AS lines FROM log`,
    plain: `SELECT receipt_id, leaf_index, leaf_hash, entry ${found}`,
  }
})

export async function readReceiptTexts(db: Db, receiptIds: readonly string[]): Promise<ReceiptTexts> {
  const { withLines, plain } = statementsOf(db.dialect)
  const ids = JSON.stringify(receiptIds)
  const [row] = await db.query(withLines, [ids])
  const state = toAnchoredState(row!)
  const lines = readLines(row!.lines)
  if (lines === '') return { state, receipts: [] }
  const fields = lines.split(SEPARATORS.row).map((line) => line.split(SEPARATORS.field))
  if (fields.every(({ length }) => length === 4)) return { state, receipts: fields.map(toReceiptText) }
  // A damaged receipt holds a separator. It is served as it is stored, and the others are not affected.
  const rows = await db.query(plain, [ids])
  const receipts = rows.map((row) =>
    toReceiptText([row.receipt_id, row.leaf_index, (row.leaf_hash as Buffer).toString('hex'), row.entry].map(String)),
  )
  return { state, receipts }
}

function toReceiptText([receiptId, leafIndex, leafHash, entry]: readonly string[]): ReceiptText {
  return { receiptId: receiptId!, leafIndex: Number(leafIndex), leafHash: leafHash!, entry: entry! }
}
