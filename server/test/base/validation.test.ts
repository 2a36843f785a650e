import { secret, type TSchema, Type } from '@claimcheck/core/plugin'
import { schemaProblem, validator } from '@claimcheck/server/base/validation'
import t from 'tap'

interface Row {
  readonly schema: TSchema
  readonly value: unknown
  readonly loc?: (string | number)[]
  readonly type: string
  readonly ctx?: object
}

const withDate = Type.String({ format: 'date-time' })

t.test('each finding has the type and context that clients of FastAPI services know', async (t) => {
  const rows: Row[] = [
    { schema: Type.String(), value: 1, type: 'string_type' },
    { schema: Type.String({ pattern: '^a$' }), value: 'b', type: 'string_pattern_mismatch', ctx: { pattern: '^a$' } },
    { schema: Type.String({ minLength: 1 }), value: '', type: 'string_too_short', ctx: { min_length: 1 } },
    { schema: Type.String({ maxLength: 1 }), value: 'ab', type: 'string_too_long', ctx: { max_length: 1 } },
    { schema: Type.Integer(), value: '1', type: 'int_type' },
    { schema: Type.Integer(), value: 1.5, type: 'int_from_float' },
    { schema: Type.Integer(), value: null, type: 'int_type' },
    { schema: Type.Integer({ minimum: 0 }), value: -1, type: 'greater_than_equal', ctx: { ge: 0 } },
    { schema: Type.Integer({ maximum: 9 }), value: 10, type: 'less_than_equal', ctx: { le: 9 } },
    { schema: Type.Integer({ exclusiveMinimum: 0 }), value: 0, type: 'greater_than', ctx: { gt: 0 } },
    { schema: Type.Integer({ exclusiveMaximum: 9 }), value: 9, type: 'less_than', ctx: { lt: 9 } },
    { schema: Type.Integer({ multipleOf: 2 }), value: 3, type: 'multiple_of', ctx: { multiple_of: 2 } },
    { schema: Type.Number(), value: 'x', type: 'float_type' },
    { schema: Type.Boolean(), value: 1, type: 'bool_type' },
    { schema: Type.Null(), value: 1, type: 'none_required' },
    { schema: Type.Array(Type.String()), value: {}, type: 'list_type' },
    {
      schema: Type.Array(Type.String(), { minItems: 1 }),
      value: [],
      type: 'too_short',
      ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
    },
    {
      schema: Type.Array(Type.String(), { maxItems: 1 }),
      value: ['a', 'b'],
      type: 'too_long',
      ctx: { field_type: 'List', max_length: 1, actual_length: 2 },
    },
    { schema: Type.Array(Type.String()), value: ['a', 1], loc: ['body', 'x', 1], type: 'string_type' },
    { schema: Type.Object({}), value: 'x', type: 'dict_type' },
    {
      schema: Type.Object({ 'a/b~c': Type.String() }),
      value: { 'a/b~c': 1 },
      loc: ['body', 'x', 'a/b~c'],
      type: 'string_type',
    },
    { schema: Type.Object({ a: Type.String() }), value: {}, loc: ['body', 'x', 'a'], type: 'missing' },
    {
      schema: Type.Object({}, { additionalProperties: false }),
      value: { b: 1 },
      loc: ['body', 'x', 'b'],
      type: 'extra_forbidden',
    },
    { schema: Type.Enum(['a', 'b', 'c']), value: 'd', type: 'literal_error', ctx: { expected: "'a', 'b' or 'c'" } },
    { schema: Type.Literal('a'), value: 'd', type: 'literal_error', ctx: { expected: "'a'" } },
    {
      schema: withDate,
      value: 'soon',
      type: 'datetime_parsing',
      ctx: { error: 'written as 2026-09-25T14:02:11.000Z' },
    },
    { schema: withDate, value: '2026-09-25T14:02:11', type: 'timezone_aware' },
    {
      schema: withDate,
      value: '1969-09-25T14:02:11Z',
      type: 'greater_than_equal',
      ctx: { ge: '1970-01-01T00:00:00Z' },
    },
    {
      schema: Type.Unsafe({ type: 'object', 'x-max-bytes': 9 }),
      value: { a: 'éé' },
      type: 'bytes_too_long',
      ctx: { max_length: 9 },
    },
  ]
  for (const { schema, value, loc = ['body', 'x'], type, ctx } of rows) {
    const [issue, ...others] = validator(schema)(value, ['body', 'x'])
    t.match({ loc: issue?.loc, type: issue?.type, ctx: issue?.ctx }, { loc, type, ctx }, type)
    t.equal(others.length, 0, `${type} is all that is wrong`)
    t.ok(issue?.msg, `${type} comes with words`)
  }
})

t.test('a keyword that pydantic has no word for is a value error', async (t) => {
  const [issue] = validator(Type.Array(Type.String(), { uniqueItems: true }))(['a', 'a'], ['options'])
  t.match(issue, { type: 'value_error', loc: ['options'] })
})

t.test('lengths are counted in code points', async (t) => {
  t.same(validator(Type.String({ maxLength: 2 }))('🦊🦊', ['body']), [])
})

t.test('everything that is wrong is named at once', async (t) => {
  const schema = Type.Object({ a: Type.String(), b: Type.Integer() }, { additionalProperties: false })
  const issues = validator(schema)({ a: 1, c: 2 }, ['body'])
  t.same(issues.map(({ loc, type }) => `${loc.join('.')} ${type}`).sort(), [
    'body.a string_type',
    'body.b missing',
    'body.c extra_forbidden',
  ])
})

t.test('what a schema and a branch of it both find is named once', async (t) => {
  const schema = Type.Unsafe({
    type: 'object',
    properties: { a: { type: 'string' } },
    allOf: [{ properties: { a: { type: 'string' } } }],
  })
  t.equal(validator(schema)({ a: 1 }, ['body']).length, 1)
})

t.test('a long value is not repeated', async (t) => {
  const [issue] = validator(Type.Integer())('x'.repeat(60_000), ['body'])
  t.notOk('input' in issue!)
})

t.test('a value that may be a credential is never repeated', async (t) => {
  const check = validator(Type.Object({ token: secret({ description: 'A token.' }) }, { additionalProperties: false }))
  t.notMatch(JSON.stringify(check({ token: 4711_4711 }, ['options'])), /47114711/, 'of the wrong type')
  t.notMatch(JSON.stringify(check({ tokn: 'hunter2hunter2' }, ['options'])), /hunter2/, 'under a misspelt name')
})

t.test('a schema that compiles has no problem', async (t) => {
  t.equal(schemaProblem(Type.Object({ a: Type.String({ pattern: '^[a-z]+$' }) })), undefined)
  t.type(schemaProblem({ type: 'strng' } as never), 'string')
  t.match(schemaProblem({ type: 'object', minProperties: -1 } as never), /schema is invalid/)
})
