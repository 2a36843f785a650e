/** Copies of plain JSON data, for those who may change what they are given. Several times as fast as structuredClone. */

export function copyJson<T>(value: T): T {
  return copyOf(value) as T
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]))
}
