/** Parses the responses of IMAP that are lists, such as LIST, FETCH and NAMESPACE, and the times in them. */
import type { LogTime } from '@claimcheck/core/plugin'
import { endOfQuoted } from '../quoted.ts'

/** A part of a response: a text, null for NIL, or a list in parentheses. */
export type Value = string | null | readonly Value[]

/** Parses a response; undefined for one that is cut or is none. @param text with literals written as quoted strings */
export function parseResponse(text: string): readonly Value[] | undefined {
  const open: Value[][] = [[]]
  for (let at = 0; at < text.length; ) {
    const list = open.at(-1)
    if (list === undefined) return undefined
    const token = tokenAt(text, at)
    if (token === undefined) return undefined
    if (token === '(') open.push([])
    else if (token === ')') {
      open.pop()
      open.at(-1)?.push(list)
    } else if (token !== ' ') list.push(token.startsWith('"') ? unquoted(token.slice(1, -1)) : atomOf(token))
    at += token.length
  }
  return open.length === 1 ? open[0] : undefined
}

/** The token that begins at a place: a space, a parenthesis, a quoted string or an atom; undefined for one that does not end. */
function tokenAt(text: string, start: number): string | undefined {
  if (' ()'.includes(text[start]!)) return text[start]
  const end = text[start] === '"' ? endOfQuoted(text, start) : endOfAtom(text, start)
  return end === undefined ? undefined : text.slice(start, end)
}

/** Finds the end of an atom. The brackets of a section, `BODY[HEADER.FIELDS (TO)]`, may have spaces and parentheses in them; a mailbox's name has one bracket, too. */
function endOfAtom(text: string, start: number): number | undefined {
  const mayHaveSection = /^BODY\[/i.test(text.slice(start, start + 5))
  let isInSection = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]!
    if (char === '[') isInSection = mayHaveSection
    else if (char === ']') isInSection = false
    else if (!isInSection && ' ()"'.includes(char)) return at
  }
  return isInSection ? undefined : text.length
}

const unquoted = (text: string) => text.replaceAll(/\\(.)/gs, '$1')
const atomOf = (text: string) => (text.toUpperCase() === 'NIL' ? null : text)

/** Writes a text as a quoted string. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Reads a date-time such as `17-Jul-1996 02:44:25 -0700`, which tells whole seconds. */
export function timeOf(value: Value | undefined): LogTime | undefined {
  if (typeof value !== 'string') return undefined
  const match = /^ ?(\d{1,2})-([A-Za-z]{3})-(\d{4}) (\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/.exec(value)
  const month = MONTHS.findIndex((name) => name.toLowerCase() === match?.[2]?.toLowerCase()) + 1
  if (!match || month === 0) return undefined
  const [, day, , year, time, hours, minutes] = match
  const text = `${year}-${String(month).padStart(2, '0')}-${day!.padStart(2, '0')}T${time}${hours}:${minutes}`
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : { notBefore: at, notAfter: at + 999 }
}
