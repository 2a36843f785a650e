/** Validates requests against the schemas of their routes. Bodies are not coerced; the text of a query is converted as its schema says. */
import { ValidationErrorBody } from '@claimcheck/core/api'
import { type TSchema, Type } from '@claimcheck/core/plugin'
import type { FastifySchemaCompiler } from 'fastify'
import { type Issue, ServiceError } from '../base/errors.ts'
import { type Validator, validator } from '../base/validation.ts'
import type { App } from './instance.ts'
import { contentIssues } from './text.ts'

const NO_QUERY = Type.Object({}, { additionalProperties: false })

/**
 * Has each route of the API that declares no query refuse any: a misspelt or misplaced parameter would be ignored in silence. Call it before they
 * are declared.
 */
export function refuseUndeclaredQueries(app: App): void {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1/') || route.schema?.querystring !== undefined) return
    const response = { ...(route.schema?.response as object | undefined), 422: ValidationErrorBody }
    route.schema = { ...route.schema, querystring: NO_QUERY, response }
  })
}

/** Compiles the validation of a route. Path parameters have no schema, because routes answer 404 to an id of another form. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // Schemas are compiled at the first request, so that a process that serves few routes does not wait for all of them.
  const check: Validator = (value, loc) => validator(schema)(value, loc)
  if (httpPart === 'body') {
    return (body: unknown) => {
      // Fastify passes null for an absent body.
      if (body === null) return refuse([{ loc: ['body'], type: 'missing', msg: 'Field required' }])
      return accept(body, check(body, ['body']))
    }
  }
  return (query: Readonly<Record<string, unknown>>) => {
    const read = readQuery(schema, query)
    const issues = check(read, ['query'])
    return accept(read, issues.length > 0 ? issues : contentIssues(read, ['query']))
  }
}

/** Reads a query: converts integers in decimal digits and applies defaults. Ajv's coercion would also accept `0x10`, `1e1` and blanks. */
function readQuery(schema: TSchema, query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { properties } = schema as { properties?: Readonly<Record<string, { type?: string; default?: unknown }>> }
  // Unknown members are kept for the schema to refuse: a misspelt filter would show everything.
  const read: Record<string, unknown> = { ...query }
  for (const [name, { type, default: defaultValue }] of Object.entries(properties ?? {})) {
    const value = query[name] ?? defaultValue
    if (value !== undefined) read[name] = type === 'integer' ? readInteger(value) : value
  }
  return read
}

function readInteger(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[+-]?\d+$/.test(value)) return value
  const number = Number(value)
  return Number.isFinite(number) ? number : value
}

function accept(value: unknown, issues: readonly Issue[]) {
  return issues.length > 0 ? refuse(issues) : { value }
}

function refuse(issues: readonly Issue[]) {
  return { error: new ServiceError('invalid', 'the request is not valid', { issues }) }
}
