/** Holds requests against the routes' schemas. Bodies are taken as they are; a query is text, and is read as its schema says. */
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import type { Issue } from '../base/errors.ts'
import { ServiceError } from '../base/errors.ts'
import { type Validator, validator } from '../base/validation.ts'
import { contentIssues } from './text.ts'

/** Path parameters have no schema: what is no id of ours names nothing, and that is a 404. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // Compiled by the first request that needs it: a command or a test that serves few routes does not wait for all of them.
  const check: Validator = (value, loc) => validator(schema)(value, loc)
  if (httpPart === 'body') {
    return (body: unknown) => {
      // Fastify gives null for an absent body.
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

/** Integers in plain decimal digits and defaults. Ajv's own coercion would also take `0x10`, `1e1` and blanks. */
function readQuery(schema: TSchema, query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { properties } = schema as { properties?: Readonly<Record<string, { type?: string; default?: unknown }>> }
  const read: Record<string, unknown> = {}
  for (const [name, { type, default: absent }] of Object.entries(properties ?? {})) {
    const value = query[name] ?? absent
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
