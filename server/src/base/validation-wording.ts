/** Translates each finding of Ajv into pydantic's error type, message and context, which clients of FastAPI services know. */
import type { ErrorObject } from 'ajv'
import type { Issue, Loc } from './errors.ts'
import { readTimestamp, type TimestampProblem } from './timestamp.ts'

/** The schema keyword for what to write where a pattern applies: a phrase that begins with a verb, such as `enter owner/repo`. */
export const PATTERN_HELP = 'x-pattern-help'

type Wording = Pick<Issue, 'msg' | 'type' | 'ctx'>

export function wording(error: ErrorObject, loc: Loc): Wording {
  return BY_KEYWORD[error.keyword]?.(error, loc) ?? valueError(error.message ?? 'is not valid')
}

function patternWording(pattern: string, parent: ErrorObject['parentSchema']): Wording {
  return { type: 'string_pattern_mismatch', msg: formInWords(parent ?? {}), ctx: { pattern } }
}

/** Says what to write, in the schema's words for people, who do not read regular expressions. */
export function formInWords(schema: Readonly<Record<string, unknown>>): string {
  const { [PATTERN_HELP]: help, description, examples } = schema
  const [example] = Array.isArray(examples) ? (examples as unknown[]) : []
  const shown = typeof example === 'string' ? `\`${example}\`` : undefined
  if (typeof help === 'string') {
    const lead = help.charAt(0).toUpperCase() + help.slice(1)
    return shown === undefined || help.includes('`') ? lead : `${lead}, for example ${shown}`
  }
  const said = typeof description === 'string' ? description : undefined
  if (shown !== undefined) return said === undefined ? `Write it like ${shown}` : `Write it like ${shown}. ${said}`
  return said === undefined ? UNKNOWN_FORM : `Write it in the form that is described: ${said}`
}

const UNKNOWN_FORM = 'This is not written in the form that is needed: look it up in the documentation'

const BY_KEYWORD: Readonly<Record<string, (error: ErrorObject, loc: Loc) => Wording>> = {
  required: () => ({ type: 'missing', msg: 'Field required' }),
  additionalProperties: () => ({ type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }),
  type: ({ schema, data }, loc) => typeWording(schema, data, loc),
  enum: ({ schema }) => literalError(schema as unknown[]),
  const: ({ schema }) => literalError([schema]),
  pattern: ({ schema: pattern, parentSchema }) => patternWording(String(pattern), parentSchema),
  not: ({ schema, parentSchema, message }) => {
    const { pattern } = schema as { readonly pattern?: unknown }
    return typeof pattern === 'string' ? patternWording(pattern, parentSchema) : valueError(message ?? 'is not valid')
  },
  minLength: ({ schema: min_length }) => ({
    type: 'string_too_short',
    msg: `String should have at least ${counted(min_length, 'character')}`,
    ctx: { min_length },
  }),
  maxLength: ({ schema: max_length }) => ({
    type: 'string_too_long',
    msg: `String should have at most ${counted(max_length, 'character')}`,
    ctx: { max_length },
  }),
  minimum: ({ schema: ge }) => ({
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${ge}`,
    ctx: { ge },
  }),
  maximum: ({ schema: le }) => ({
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${le}`,
    ctx: { le },
  }),
  exclusiveMinimum: ({ schema: gt }) => ({
    type: 'greater_than',
    msg: `Input should be greater than ${gt}`,
    ctx: { gt },
  }),
  exclusiveMaximum: ({ schema: lt }) => ({ type: 'less_than', msg: `Input should be less than ${lt}`, ctx: { lt } }),
  multipleOf: ({ schema: multiple_of }) => ({
    type: 'multiple_of',
    msg: `Input should be a multiple of ${multiple_of}`,
    ctx: { multiple_of },
  }),
  minItems: ({ schema: min_length, data }) => ({
    type: 'too_short',
    msg: `List should have at least ${counted(min_length, 'item')} after validation, not ${(data as unknown[]).length}`,
    ctx: { field_type: 'List', min_length, actual_length: (data as unknown[]).length },
  }),
  maxItems: ({ schema: max_length, data }) => ({
    type: 'too_long',
    msg: `List should have at most ${counted(max_length, 'item')} after validation, not ${(data as unknown[]).length}`,
    ctx: { field_type: 'List', max_length, actual_length: (data as unknown[]).length },
  }),
  'x-max-bytes': ({ schema: max_length }) => ({
    type: 'bytes_too_long',
    msg: `Data should have at most ${counted(max_length, 'byte')}`,
    ctx: { max_length },
  }),
  format: ({ schema: format, data, message = '' }) =>
    format === 'date-time' ? TIMESTAMPS[readTimestamp(data as string) as TimestampProblem] : valueError(message),
}

const TYPES: Readonly<Record<string, Wording>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  integer: { type: 'int_type', msg: 'Input should be a valid integer' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  null: { type: 'none_required', msg: 'Input should be None' },
}

const NOT_A_MODEL: Wording = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
}
const FRACTION: Wording = {
  type: 'int_from_float',
  msg: 'Input should be a valid integer, got a number with a fractional part',
}
const UNPARSABLE_INTEGER: Wording = {
  type: 'int_parsing',
  msg: 'Input should be a valid integer, unable to parse string as an integer',
}

const TIMESTAMPS: Readonly<Record<TimestampProblem, Wording>> = {
  malformed: {
    type: 'datetime_parsing',
    msg: 'Input should be a valid datetime, written as 2026-09-25T14:02:11.000Z',
    ctx: { error: 'written as 2026-09-25T14:02:11.000Z' },
  },
  no_zone: { type: 'timezone_aware', msg: 'Input should have timezone info' },
  before_1970: {
    type: 'greater_than_equal',
    msg: 'Input should be greater than or equal to 1970-01-01T00:00:00Z',
    ctx: { ge: '1970-01-01T00:00:00Z' },
  },
}

function typeWording(expected: unknown, data: unknown, loc: Loc): Wording {
  if (expected === 'object' && loc.length === 1 && loc[0] === 'body') return NOT_A_MODEL
  if (expected === 'integer' && typeof data === 'number') return FRACTION
  // A query has only texts, so a wrong integer there failed to parse; elsewhere the mistake is that the value is a text.
  if (expected === 'integer' && typeof data === 'string' && loc[0] === 'query') return UNPARSABLE_INTEGER
  return TYPES[String(expected)] ?? valueError(`must be one of ${String(expected)}`)
}

const MOST_LITERALS = 100

function literalError(values: readonly unknown[]): Wording {
  const named = values
    .slice(0, MOST_LITERALS)
    .map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
  const shown = values.length > MOST_LITERALS ? [...named, `one of ${values.length - MOST_LITERALS} others`] : named
  const expected = shown.length > 1 ? `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}` : shown.join()
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } }
}

function valueError(error: string): Wording {
  return { type: 'value_error', msg: `Value error, ${error}`, ctx: { error } }
}

export function counted(count: unknown, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
