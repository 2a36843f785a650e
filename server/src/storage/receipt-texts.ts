/** Receipts as they are handed out: looked up by id, many in one text. */
import type { Db, Dialect } from './db.ts'
import { FUNCTIONS, linesOf, readLines, SEPARATORS } from './lines.ts'
import { textsOf } from './rows.ts'

export interface ReceiptText {
  readonly receiptId: string
  readonly leafIndex: number
  /** In hex. */
  readonly leafHash: string
  /** JCS of { body, signature }. */
  readonly entry: string
}

const LINES = { sqlite: linesIn('sqlite'), postgres: linesIn('postgres') }

/** In any order. */
export async function readReceiptTexts(db: Db, receiptIds: readonly string[]): Promise<ReceiptText[]> {
  const ids = JSON.stringify(receiptIds)
  const found = `FROM receipts WHERE receipt_id IN ${textsOf(db.dialect)}`
  const [row] = await db.query(`SELECT ${LINES[db.dialect]} AS lines ${found}`, [ids])
  const lines = readLines(row?.lines)
  if (lines === '') return []
  const fields = lines.split(SEPARATORS.row).map((line) => line.split(SEPARATORS.field))
  if (fields.every(({ length }) => length === 4)) return fields.map(toReceiptText)
  // A separator where none should be: what is damaged is served as it is stored, and the others beside it as ever.
  const rows = await db.query(`SELECT receipt_id, leaf_index, leaf_hash, entry ${found}`, [ids])
  return rows.map((row) =>
    toReceiptText([row.receipt_id, row.leaf_index, (row.leaf_hash as Buffer).toString('hex'), row.entry].map(String)),
  )
}

function linesIn(dialect: Dialect): string {
  return linesOf(dialect, ['receipt_id', 'leaf_index', FUNCTIONS[dialect].hex('leaf_hash'), 'entry'])
}

function toReceiptText([receiptId, leafIndex, leafHash, entry]: readonly string[]): ReceiptText {
  return { receiptId: receiptId!, leafIndex: Number(leafIndex), leafHash: leafHash!, entry: entry! }
}
