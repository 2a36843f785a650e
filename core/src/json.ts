/** Plain JSON data, as it travels in claims, facts and receipts. */

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [name: string]: JsonValue
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member named __proto__ becomes a member like any other, and so does what else objects have by nature. */
export function setMember<T>(members: Record<string, T>, name: string, value: T): void {
  if (!(name in members)) members[name] = value
  else Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
}
