/** CSV by RFC 4180, of texts that others wrote: no cell of it is a formula where a spreadsheet opens it. */
import { visible } from '@claimcheck/core/words/plain-text'

/** What begins a formula, in its plain form: spreadsheets take `＝` for `=`, too. */
const FORMULA = /^[=+\-@\u2212]/
/** After this some spreadsheets begin a new cell, whatever the quotes say. */
const SEPARATOR = ';'
/** Almost every cell: it is not looked through one character after the other. */
const PLAIN = /^[\p{L}\p{N}{[_<][^;]*$/u
const QUOTED = /[",; ]/

/** A record with its line break. */
export function csvRecord(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => (cell === null ? '' : csvCell(cell))).join(',')}\r\n`
}

function csvCell(text: string): string {
  const safe = neutral(visible(text))
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** An apostrophe makes plain text of what follows. */
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
