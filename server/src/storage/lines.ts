/** Many rows as one text, because each row and each column that a database hands over takes time. */
import { isAscii } from 'node:buffer'
import type { LineExpressions } from './dialect.ts'

/** What stands between rows, between a row's fields, between a claim's checks, and between a check's attempt and its record. */
export const SEPARATORS = { row: '\n', field: '\t', check: '\x1e', attempt: '\x1f' } as const

/** All rows' expressions, a line each; a null is left out of its line. */
export function linesOf({ character, join, long }: LineExpressions, expressions: readonly string[]): string {
  return long(join(`concat_ws(${character(SEPARATORS.field)}, ${expressions.join(', ')})`, character(SEPARATORS.row)))
}

/** The text that `linesOf` selected: empty without rows. */
export function readLines(value: unknown): string {
  return Buffer.isBuffer(value) ? decode(value) : ((value as string | null | undefined) ?? '')
}

/** Almost always ASCII, which needs no decoding. */
function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString()
}
