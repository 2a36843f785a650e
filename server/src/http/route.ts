/** Parts that the declarations of routes share. */
import { ErasedBody, ErrorBody, LostBody, ValidationErrorBody } from '@claimcheck/core/api'
import { type TSchema, Type } from '@claimcheck/core/plugin'

const ERRORS = {
  400: ErrorBody,
  401: ErrorBody,
  403: ErrorBody,
  404: ErrorBody,
  409: ErrorBody,
  410: Type.Union([ErasedBody, LostBody]),
  413: ErrorBody,
  415: ErrorBody,
  422: ValidationErrorBody,
  429: ErrorBody,
  503: ErrorBody,
}
type ErrorStatus = keyof typeof ERRORS

export function errors<S extends ErrorStatus>(...statuses: readonly S[]): Pick<typeof ERRORS, S> {
  return Object.fromEntries(statuses.map((status) => [status, ERRORS[status]])) as Pick<typeof ERRORS, S>
}

/**
 * The schema of an answer that is sent as existing JSON text: its bytes are signed or hashed, or serializing it again would cost too
 * much.
 */
export function jsonText<S extends TSchema>(schema: S) {
  return Type.Unsafe<string>(schema)
}

export const JSON_TYPE = 'application/json; charset=utf-8'

export const NEEDS_KEY = [{ apiKey: [] }]

/** The security of routes that need a key, or a token of an application with any scopes. */
export const NEEDS_CREDENTIAL: readonly Readonly<Record<string, readonly string[]>>[] = [{ apiKey: [] }, { oauth: [] }]

/** Tells whether a text has the form of all ids. Routes answer 404 to any other text without reading the database. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text)
}
