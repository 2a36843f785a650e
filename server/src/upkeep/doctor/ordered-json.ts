/** Canonical JSON at the speed of JSON.stringify, for almost all values. */
import type { JsonValue } from '@claimcheck/core'

/**
 * Equals JCS unless the name of a member is an array index: objects always list those first. Before reporting a difference, callers
 * must compare again with `canonicalize`.
 */
export function orderedJson(value: JsonValue): string {
  return JSON.stringify(isOrdered(value) ? value : ordered(value))
}

function isOrdered(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isOrdered)
  let before = ''
  for (const [name, member] of Object.entries(value)) {
    if (name < before || !isOrdered(member)) return false
    before = name
  }
  return true
}

function ordered(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const object = value as Readonly<Record<string, JsonValue>>
  const copy: Record<string, JsonValue> = {}
  for (const name of Object.keys(object).sort()) copy[name] = ordered(object[name]!)
  return copy
}
