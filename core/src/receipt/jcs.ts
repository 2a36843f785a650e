/** Canonical JSON (JCS, RFC 8785), from which hashes and signatures are made. */
import { utf8 } from '../encoding.ts'
import type { JsonValue } from '../json.ts'

/** Writes canonical JSON. @throws TypeError for a lone surrogate or a number that is not finite. `parseStrictJson` lets neither through. */
export function canonicalize(value: JsonValue): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return numberOf(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  let members = ''
  for (const name of sorted(Object.keys(value))) {
    const member = value[name]
    // Members of value undefined are left out, as JSON.stringify leaves them out.
    if (member === undefined) continue
    members += (members === '' ? '' : ',') + beginningOf(name) + canonicalize(member)
  }
  return `{${members}}`
}

/** Canonical JSON in UTF-8, which is hashed and signed. */
export function canonicalBytes(value: JsonValue): Uint8Array {
  return utf8(canonicalize(value))
}

/** Sorts names by their UTF-16 code units, as RFC 8785, `<` and `sort` do. Most are in order already. */
function sorted(names: string[]): string[] {
  for (let index = 1; index < names.length; index++) if (names[index - 1]! > names[index]!) return names.sort()
  return names
}

/** Quoted names with their colons, stored because the same few names are in every receipt. */
const BEGINNINGS = new Map<string, string>()
const MOST_BEGINNINGS = 1000
const LONGEST_NAME = 64

function beginningOf(name: string): string {
  const known = BEGINNINGS.get(name)
  if (known !== undefined) return known
  const beginning = `${quote(name)}:`
  if (BEGINNINGS.size < MOST_BEGINNINGS && name.length <= LONGEST_NAME) BEGINNINGS.set(name, beginning)
  return beginning
}

const NOTHING_TO_ESCAPE = /^[ !#-[\]-~]*$/

function quote(text: string): string {
  if (NOTHING_TO_ESCAPE.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate has no canonical form')
  return JSON.stringify(text)
}

// RFC 8785 3.2.2.3 writes numbers as ECMAScript does.
function numberOf(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('a number that is not finite has no canonical form')
  return String(value)
}

// Narrows readonly arrays, which Array.isArray does not.
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
