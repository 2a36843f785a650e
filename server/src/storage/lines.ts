/** Many rows as one text, because what a database hands over dearly is each row and column. */
import { isAscii } from 'node:buffer'
import type { Dialect } from './db.ts'

/** What stands between rows, between a row's fields, between a claim's checks, and between a check's attempt and its record. */
export const SEPARATORS = { row: '\n', field: '\t', check: '\x1e', attempt: '\x1f' } as const

interface Functions {
  character(text: string): string
  hex(column: string): string
  json(column: string): string
  join(expression: string, separator: string): string
  bytes(expression: string): string
}

export const FUNCTIONS: Readonly<Record<Dialect, Functions>> = {
  sqlite: {
    character: (text) => `char(${text.charCodeAt(0)})`,
    hex: (column) => `lower(hex(${column}))`,
    json: (column) => `json_quote(CAST(${column} AS text))`,
    join: (expression, separator) => `group_concat(${expression}, ${separator})`,
    // The driver makes a string of a large text much slower than of the same bytes.
    bytes: (expression) => `CAST(${expression} AS BLOB)`,
  },
  postgres: {
    character: (text) => `chr(${text.charCodeAt(0)})`,
    hex: (column) => `encode(${column}, 'hex')`,
    json: (column) => `CAST(to_json(${column}) AS text)`,
    join: (expression, separator) => `string_agg(${expression}, ${separator})`,
    bytes: (expression) => expression,
  },
}

/** All rows' expressions, a line each; a null is left out of its line. */
export function linesOf(dialect: Dialect, expressions: readonly string[]): string {
  const { character, join, bytes } = FUNCTIONS[dialect]
  return bytes(join(`concat_ws(${character(SEPARATORS.field)}, ${expressions.join(', ')})`, character(SEPARATORS.row)))
}

/** What `linesOf` came to: empty without rows. */
export function readLines(value: unknown): string {
  return Buffer.isBuffer(value) ? decode(value) : ((value as string | null | undefined) ?? '')
}

/** Almost always ASCII, which needs no decoding. */
function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString()
}
