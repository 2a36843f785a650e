/** Deep copies of JSON data, for callees that may modify their arguments. Copying is several times as fast as structuredClone. */
import { setMember } from '@claimcheck/core/rules'

export function copyJson<T>(value: T): T {
  return copyOf(value) as T
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) setMember(copy, name, copyOf(member))
  return copy
}
