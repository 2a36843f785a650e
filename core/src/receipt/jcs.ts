/** The one text of a JSON value that hashes and signatures are made of: JCS, RFC 8785. */
import type { JsonValue } from '../json.ts'

/** @throws TypeError for a lone surrogate, or a number that is not finite: neither is in anything that was read strictly */
export function canonicalize(value: JsonValue): string {
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'number') return numberOf(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  let members = ''
  // In the order of their UTF-16 code units, which is how JavaScript sorts texts.
  for (const name of Object.keys(value).sort()) {
    const member = value[name]
    // As JSON.stringify does: left out.
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

// RFC 8785 3.2.2.3 takes its numbers from ECMAScript, where -0 is written 0.
function numberOf(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('a number that is not finite has no canonical form')
  return String(value)
}

// Array.isArray does not narrow readonly arrays.
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
