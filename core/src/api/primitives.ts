/** The small schemas from which the wire schemas are made. */
import type { JsonObject } from '../json.ts'
import { type TSchema, Type } from '../typebox.ts'

/** A wire type as its readers see it. An object with any members stays as it is. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

/** A time in UTC, written with `Z` and three fraction digits. */
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-09-25T14:02:11.000Z'] })

export const Hash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'SHA-256, base64url without padding.' })

/** A position or a size in the log. */
export function count(options: { readonly description?: string } = {}) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options })
}

/** A schema keyword: the most bytes that the object may take as JSON. */
export const MAX_BYTES = 'x-max-bytes'

/** An object with members that are not described here. */
export function plainObject<T extends JsonObject = JsonObject>(
  options: { readonly description?: string; readonly examples?: JsonObject[]; readonly [MAX_BYTES]?: number } = {},
) {
  return Type.Unsafe<T>({ type: 'object', ...options })
}

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}
