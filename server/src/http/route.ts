/** What the routes' declarations have in common. */
import { ErrorBody, ValidationErrorBody } from '@claimcheck/core/api'
import { type TSchema, Type } from 'typebox'

const ERRORS = {
  400: ErrorBody,
  401: ErrorBody,
  404: ErrorBody,
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

/** An answer that exists as JSON text already, and is sent byte for byte: it is signed or hashed, or costs too much to write twice. */
export function jsonText<S extends TSchema>(schema: S) {
  return Type.Unsafe<string>(schema)
}

export const JSON_TYPE = 'application/json; charset=utf-8'

export const NEEDS_KEY = [{ apiKey: [] }]

/** A key, or a token of an application with whatever scopes. */
export const NEEDS_CREDENTIAL = [{ apiKey: [] }, { oauth: [] }]

/** Every id of ours is of this form. Anything else names nothing, and is not worth asking a store for. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text)
}
