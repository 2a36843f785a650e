/** Copies of plain JSON data, for those who may change what they are given. Several times as fast as structuredClone. */

export function copyJson<T>(value: T): T {
  return copyOf(value) as T
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    // Assigned, it would become the copy's prototype.
    if (name === '__proto__') define(copy, name, copyOf(member))
    else copy[name] = copyOf(member)
  }
  return copy
}

function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}
