import { claimRequest } from '@claimcheck/core/api'
import { keywordProblems } from '@claimcheck/core/hosting'
import { createSchemaBudget, markLinear } from '@claimcheck/core/patterns/linear'
import { type ActionProfile, type TSchema, Type } from '@claimcheck/core/plugin'
import { validator } from '@claimcheck/server/base/validation'
import t from 'tap'
import { profile } from '../support/profile.ts'

/** As it comes from another process. */
function copyOf<T extends TSchema>(schema: T): T {
  return JSON.parse(JSON.stringify(schema))
}

function millisecondsOf(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

const CATASTROPHIC = '^(a+)+$'
const TEXT = `${'a'.repeat(40)}!`

t.test('a catastrophic pattern answers within milliseconds, in every schema that it gets into', async (t) => {
  const target = copyOf(Type.String({ pattern: CATASTROPHIC }))
  const params = copyOf(Type.Object({ name: Type.Optional(Type.String({ pattern: CATASTROPHIC })) }))
  t.strictSame(markLinear(target), [])
  const inClaims = claimRequest([{ ...(profile satisfies ActionProfile), action: 'test.thing.do', target, params }])
  const claim = { client_claim_id: '1', agent_id: '1', action: 'test.thing.do', claimed_at: '2026-09-25T14:02:11Z' }
  const rows: [schema: TSchema, valid: unknown, invalid: unknown][] = [
    [target, 'aa', TEXT],
    [params, { name: 'aa' }, { name: TEXT }],
    [copyOf<TSchema>({ ...target, title: 'A copy' }), 'aa', TEXT],
    [Type.Object({}, { additionalProperties: params }), { a: { name: 'aa' } }, { a: { name: TEXT } }],
    [Type.Object({}, { propertyNames: target }), { aa: 1 }, { [TEXT]: 1 }],
    [inClaims, { ...claim, target: 'aa', params: { name: 'aa' } }, { ...claim, target: TEXT, params: { name: TEXT } }],
  ]
  for (const [schema, valid, invalid] of rows) {
    const validate = validator(schema)
    t.strictSame(validate(valid, []), [])
    t.ok(millisecondsOf(() => t.match(validate(invalid, [])[0], { type: 'string_pattern_mismatch' })) < 500)
  }
})

t.test('so do patterns for the names of properties', async (t) => {
  const schema = { type: 'object', patternProperties: { '^(b+)+$': { type: 'string' } }, additionalProperties: false }
  t.strictSame(markLinear(schema), [])
  const validate = validator(schema)
  t.strictSame(validate({ bb: 'x' }, []), [])
  t.ok(
    millisecondsOf(() => t.match(validate({ [`${'b'.repeat(40)}!`]: 'x' }, []), [{ type: 'extra_forbidden' }])) < 500,
  )
})

t.test('a validation has an end, however many patterns and texts it has', async (t) => {
  const patterns = Array.from({ length: 100 }, (_, index) => ({
    pattern: `(?:[ab]{0,${150 + index}}a[ab]{0,100}){1}[^ab][^ab]`,
  }))
  const schema = { type: 'array', items: { type: 'string', allOf: patterns } }
  t.strictSame(markLinear(schema), [])
  const validate = validator(schema)
  let seed = 1
  const letter = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return seed & 65536 ? 'a' : 'b'
  }
  const text = Array.from({ length: 4096 }, letter).join('')
  t.ok(
    millisecondsOf(() =>
      t.ok(
        validate(
          Array.from({ length: 16 }, () => text),
          [],
        ).length > 0,
      ),
    ) < 5000,
  )
  // The next one begins anew.
  t.strictSame(validate(['aa!!'], []), [])
})

t.test('what a claim may cost by any schema of a plugin', async (t) => {
  const list = (items: object) => ({ type: 'array', items })
  const numbers = Array.from({ length: 2000 }, () => 0)
  const rows: [schema: TSchema, value: unknown][] = [
    [list({ anyOf: Array.from({ length: 31 }, (_, at) => ({ const: at + 1 })) }), numbers],
    [list({ enum: Array.from({ length: 3100 }, (_, at) => at + 1) }), numbers],
    [list({ type: 'object', required: Array.from({ length: 31 }, (_, at) => `m${at}`) }), numbers.map(() => ({}))],
    [{ anyOf: Array.from({ length: 32 }, (_, at) => ({ minLength: 65_537 + at })) }, 'x'.repeat(65_536)],
  ]
  for (const [schema, value] of rows) {
    t.strictSame(keywordProblems(schema, 'params'), [])
    const validate = validator(schema)
    const took = millisecondsOf(() => t.ok(validate(value, []).length > 0))
    t.ok(took < 1500, `${took} ms`)
  }
})

t.test('what is said of a claim has an end, and says something', async (t) => {
  const validate = validator({
    type: 'array',
    items: { type: 'string', pattern: '^a$', description: 'x'.repeat(40_000) },
  })
  for (const count of [1, 2, 2000]) {
    const issues = validate(new Array(count).fill('b'), [])
    t.equal(issues.length, 1)
    t.ok(JSON.stringify(issues).length < 100_000)
  }
})

const refused: [what: string, schema: object, named: RegExp][] = [
  ['a look-ahead', { pattern: '^(?=.*a)b' }, /"\^\(\?=\.\*a\)b"/],
  ['a negative look-ahead', { pattern: '^(?!a)' }, /\(\?!a\)/],
  ['a look-behind', { pattern: '(?<=a)b' }, /\(\?<=a\)b/],
  ['a negative look-behind', { pattern: '(?<!a)b' }, /\(\?<!a\)b/],
  ['a back-reference', { pattern: '^(a)\\1$' }, /\(a\)/],
  ['a back-reference by name', { pattern: '^(?<n>a)\\k<n>$' }, /refers to/],
  ['a pattern for names of properties', { patternProperties: { '^(?=a)': {} } }, /\(\?=a\)/],
  ['a pattern deep down', { properties: { a: { items: { anyOf: [{ pattern: '(?=a)' }] } } } }, /\(\?=a\)/],
  ['a property called properties', { properties: { properties: { default: { pattern: '(?=a)' } } } }, /\(\?=a\)/],
  ['a pattern that is too large', { pattern: '^[ab]{1000}c{100}$' }, /instructions/],
  ['a pattern that is none', { pattern: '(' }, /"\("/],
  ['a pattern in the language of others', { pattern: '(?i)a' }, /\(\?i\)a/],
  ['a format that takes long', { format: 'url' }, /format url/],
  ['a format that compiles', { format: 'regex' }, /format regex/],
  ['a reference', { properties: { a: { $ref: '#' } } }, /\$ref/],
  ['an identifier', { $id: 'https://example.com/schema' }, /\$id/],
  ['a schema without end', { enum: ['x'.repeat(70_000)] }, /70\d\d\d characters/],
]

for (const [what, schema, named] of refused) {
  t.test(`an isolated plugin may not use ${what}`, async (t) => {
    const problems = markLinear(schema)
    t.equal(problems.length, 1)
    t.match(problems[0], named)
  })
}

t.test('properties may be called like keywords', async (t) => {
  const properties = Object.fromEntries(
    ['pattern', 'format', '$ref', 'patternProperties'].map((name) => [name, Type.String()]),
  )
  const schema = Type.Object(properties)
  t.strictSame(markLinear(schema), [])
  t.strictSame(validator(schema)({ pattern: '(?=a)', format: 'url', $ref: 'x', patternProperties: 'x' }, []), [])
})

t.test('patterns mean what they mean elsewhere', async (t) => {
  const patterns = [
    '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$',
    '^[0-9a-f]{40}$',
    'b',
    '^$',
    '^.$',
    '^\\d+(?:\\.\\d{1,3})?$',
    '^\\p{L}+$',
    '^[^\\s/]+$',
    '\\bword\\b',
    '^(?:a|ab)(?:c|bcd)$',
    '^\\u00e9\\u{1F600}?$',
    '^[\\]\\-^]+$',
    '^a{2,}?$',
    '^(?<name>x)*$',
    '^\\/\\.$',
    '[\\w$]+\\W',
  ]
  const texts = [
    '',
    'a',
    'b',
    'ab',
    'abcd',
    'abc',
    'octo-org/hello.world',
    '0'.repeat(40),
    'a word, here',
    'é',
    'é😀',
    '😀',
    '1.25',
    '1.',
    ']-^',
    'xxx',
    '/.',
    'a/b/c',
    'aaa',
    '\n',
    'a\n',
    '$ ',
    'Ω',
    'é/',
  ]
  for (const pattern of patterns) {
    const native = validator({ type: 'string', pattern })
    const expected = texts.filter((text) => native(text, []).length === 0)
    t.strictSame(markLinear({ type: 'string', pattern }), [])
    const linear = validator({ type: 'string', pattern })
    t.strictSame(
      texts.filter((text) => linear(text, []).length === 0),
      expected,
      pattern,
    )
  }
})

t.test('the formats that isolated plugins may name are linear', async (t) => {
  const formats =
    'date time date-time iso-time iso-date-time duration uri uri-reference uri-template email hostname ipv4 ipv6 uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte'.split(
      ' ',
    )
  const starts = [
    '',
    'a@',
    'http://',
    'a:',
    '#',
    '/',
    'P',
    'PT',
    '{',
    '{a',
    '00:00:00.',
    '2020-01-01T00:00:00.',
    '1:',
    '0#',
  ]
  const units = ['a', '1', '-', 'a.', '@', ':', '1:', '/', '%41', '~0', '{a}', ',a', 'AAAA', 'AAAA\n', '1Y', 'é']
  for (const format of formats) {
    t.strictSame(markLinear({ format }), [])
    const validate = validator({ type: 'string', format })
    const texts = starts.flatMap((start) => units.map((unit) => `${start}${unit.repeat(65_536 / unit.length)}!`))
    const slowest = Math.max(...texts.map((text) => millisecondsOf(() => validate(text, []))))
    // What is not linear takes ten seconds and more.
    t.ok(slowest < 2000, `${format}: ${slowest} ms`)
  }
})

t.test('the schemas of one plugin have a budget together', async (t) => {
  const before = process.memoryUsage().rss
  const budget = createSchemaBudget()
  // Each pattern is one that a schema may have; 20,000 of them took a GiB.
  const ofPatterns = (from: number) =>
    Type.Object(
      Object.fromEntries(
        Array.from({ length: 1000 }, (_, at) => [`p${at}`, { pattern: `^[a-z]{900}${from + at}$` }]),
      ) as never,
    )
  const problems = [0, 1000].flatMap((from) => markLinear(ofPatterns(from), budget))
  t.ok(problems.length > 0)
  t.ok(problems.every((problem) => /^makes the (?:patterns|schemas) of the plugin too large: /.test(problem)))
  const large = createSchemaBudget()
  const text = { type: 'object', title: 'x'.repeat(60_000), properties: {} } as never
  t.strictSame(markLinear(text, large), [])
  t.strictSame(markLinear(text, large), [])
  t.match(markLinear(text, large), [/^makes the schemas of the plugin too large: .* 131072 characters$/])
  t.strictSame(markLinear(text), [], 'and that of another one is its own')
  t.ok(process.memoryUsage().rss - before < 100 * 1024 * 1024)
})
