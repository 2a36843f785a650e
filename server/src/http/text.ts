/** Finds texts and numbers that a database, a hash or a later reader would interpret differently. */
import type { Issue, Loc } from '../base/errors.ts'

/**
 * Reports NUL, which databases cut or refuse; lone surrogates, which UTF-8 cannot express; `__proto__`, which many readers do not treat as
 * a member; and numbers that are not safe integers.
 */
export function contentIssues(value: unknown, loc: Loc): Issue[] {
  // Locations are made only for faulty values: a body may have thousands of members.
  return isClean(value) ? [] : issuesIn(value, loc)
}

function isClean(value: unknown): boolean {
  if (typeof value === 'string') return isCleanText(value)
  if (typeof value === 'number') return Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isClean)
  for (const name of Object.keys(value)) {
    if (!isCleanText(name) || name === '__proto__') return false
    if (!isClean((value as Readonly<Record<string, unknown>>)[name])) return false
  }
  return true
}

function issuesIn(value: unknown, loc: Loc): Issue[] {
  if (typeof value === 'string') return isCleanText(value) ? [] : [notUnicode(loc)]
  if (typeof value === 'number') return Number.isSafeInteger(value) ? [] : [notAnInteger(loc)]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => issuesIn(item, [...loc, index]))
  return Object.entries(value).flatMap(([name, member]) => {
    if (!isCleanText(name)) return [notUnicode(loc)]
    if (name === '__proto__') return [forbidden([...loc, name])]
    return issuesIn(member, [...loc, name])
  })
}

export const MAX_NESTING = 32
/** The most members and items of a body. */
export const MAX_VALUES = 2000

/** Reports values that are nested deeper than request bodies may be: a recursive reader would overflow its stack. */
export function nestingIssues(value: unknown, loc: Loc): Issue[] {
  if (!isDeeper(value, MAX_NESTING)) return []
  const error = `nested deeper than ${MAX_NESTING} levels`
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

/** Refuses numbers other than safe integers: a claim becomes part of its receipt, which may contain no others. */
export function notAnInteger(loc: Loc): Issue {
  return { loc, type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' }
}

function forbidden(loc: Loc): Issue {
  return { loc, type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }
}

function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
