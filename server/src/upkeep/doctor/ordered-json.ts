/** Canonical JSON at the speed of JSON.stringify, for almost every value. */
import type { JsonValue } from '@claimcheck/core'

/**
 * JCS, except where a name is an array index, for objects keep those before all others. Whoever finds this text differing must
 * compare by `canonicalize` before saying that anything is wrong.
 */
export function orderedJson(value: JsonValue): string {
  return JSON.stringify(ordered(value))
}

function ordered(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const object = value as Readonly<Record<string, JsonValue>>
  const copy: Record<string, JsonValue> = {}
  for (const name of Object.keys(object).sort()) copy[name] = ordered(object[name]!)
  return copy
}
