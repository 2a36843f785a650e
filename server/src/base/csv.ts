/** CSV by RFC 4180 for texts that others wrote: no cell becomes a formula in a spreadsheet. */
import { visible } from '@claimcheck/core/words/plain-text'

/** Characters that begin a formula, in their plain form: spreadsheets take `＝` for `=`, too. */
const FORMULA = /^[=+\-@\u2212]/
/** The character after which some spreadsheets begin a new cell, whatever the quotes say. */
const SEPARATOR = ';'
/** Matches almost every cell, so that few are searched character by character. */
const PLAIN = /^[\p{L}\p{N}{[_<][^;]*$/u
const QUOTED = /[",; ]/

/** Writes a CSV record with its line break. */
export function csvRecord(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => (cell === null ? '' : csvCell(cell))).join(',')}\r\n`
}

function csvCell(text: string): string {
  const safe = neutral(visible(text))
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Prefixes a formula with an apostrophe, which makes spreadsheets take it for plain text. */
function neutral(text: string): string {
  if (PLAIN.test(text)) return text
  let safe = ''
  let isStart = true
  let isFirst = true
  for (const character of text) {
    // Spreadsheets pass over blanks before a formula.
    if (isStart && character !== ' ') {
      if (FORMULA.test(character.normalize('NFKC'))) safe = isFirst ? `'${safe}` : `${safe}'`
      isStart = false
      isFirst = false
    }
    if (character === SEPARATOR) isStart = true
    safe += character
  }
  return safe
}
