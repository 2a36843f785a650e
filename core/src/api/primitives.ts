/** The small parts that the wire schemas are put together from. */
import { type TSchema, Type } from 'typebox'
import type { JsonObject } from '../json.ts'

/** What claims and receipts say of times: UTC, written with `Z` and three fraction digits. */
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-09-25T14:02:11.000Z'] })

/** SHA-256, base64url without padding. */
export const Hash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'SHA-256, base64url without padding.' })

/** A position or a size in the log. */
export function count(options: { readonly description?: string } = {}) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options })
}

/** The keyword that bounds how many bytes an object takes as JSON. */
export const MAX_BYTES = 'x-max-bytes'

/** An object whose members others define. */
export function plainObject(
  options: { readonly description?: string; readonly examples?: JsonObject[]; readonly [MAX_BYTES]?: number } = {},
) {
  return Type.Unsafe<JsonObject>({ type: 'object', ...options })
}

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}
