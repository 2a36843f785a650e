/** What no text or number of a request may hold, because a store, a hash or a later reader would take it otherwise than we do. */
import type { Issue, Loc } from '../base/errors.ts'

/** NUL, which databases cut or refuse. Lone surrogates, which have no UTF-8. `__proto__`, which is no member to many readers. */
export function contentIssues(value: unknown, loc: Loc): Issue[] {
  if (typeof value === 'string') return isCleanText(value) ? [] : [notUnicode(loc)]
  if (typeof value === 'number') return Number.isSafeInteger(value) ? [] : [notAnInteger(loc)]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => contentIssues(item, [...loc, index]))
  return Object.entries(value).flatMap(([name, member]) => {
    if (!isCleanText(name)) return [notUnicode(loc)]
    if (name === '__proto__') return [forbidden([...loc, name])]
    return contentIssues(member, [...loc, name])
  })
}

export const DEEPEST_NESTING = 32

/** Deeper than bodies of requests may be nested: readers that follow it inwards would run out of stack. */
export function nestingIssues(value: unknown, loc: Loc): Issue[] {
  if (!isDeeper(value, DEEPEST_NESTING)) return []
  const error = `nested deeper than ${DEEPEST_NESTING}`
  return [{ loc, type: 'value_error', msg: `Value error, ${error}`, ctx: { error } }]
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

export function notUnicode(loc: Loc): Issue {
  const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
  return { loc, type: 'string_unicode', msg }
}

/** Receipts hold integers within ±(2^53 - 1) only, and a claim becomes part of its receipt. */
export function notAnInteger(loc: Loc): Issue {
  return { loc, type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' }
}

function forbidden(loc: Loc): Issue {
  return { loc, type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }
}

function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
