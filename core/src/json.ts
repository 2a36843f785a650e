/** Plain JSON data: its types and its lenient reading. */

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [name: string]: JsonValue
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses JSON as most readers do; undefined for any other text. A checker reads strictly, by `parseStrictJson`. */
export function jsonIn(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a JSON object; an empty one for any other text. */
export function objectIn(text: string): JsonObject {
  const value = jsonIn(text)
  return isJsonObject(value) ? value : {}
}

/** Sets a member by a foreign name: `__proto__` and other inherited names become ordinary members. */
export function setMember<T>(members: Record<string, T>, name: string, value: T): void {
  if (!(name in members)) members[name] = value
  else Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
}
