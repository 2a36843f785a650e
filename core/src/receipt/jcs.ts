/** Canonical JSON (JCS, RFC 8785): the text of a value from which its hash and signature are made. */
import type { JsonValue } from '../json.ts'

/** @throws TypeError for a lone surrogate or a number that is not finite. `parseStrictJson` lets neither through. */
export function canonicalize(value: JsonValue): string {
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'number') return numberOf(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  let members = ''
  // RFC 8785 sorts names by their UTF-16 code units, as `sort` does.
  for (const name of Object.keys(value).sort()) {
    const member = value[name]
    // JSON.stringify leaves it out, too.
    if (member === undefined) continue
    members += `${members && ','}${textOf(name)}:${canonicalize(member)}`
  }
  return `{${members}}`
}

const NOTHING_TO_ESCAPE = /^[ !#-[\]-~]*$/

function textOf(text: string): string {
  if (NOTHING_TO_ESCAPE.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate has no canonical form')
  return JSON.stringify(text)
}

// RFC 8785 3.2.2.3 writes numbers as ECMAScript does.
function numberOf(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('a number that is not finite has no canonical form')
  return String(value)
}

// Array.isArray does not narrow readonly arrays.
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
