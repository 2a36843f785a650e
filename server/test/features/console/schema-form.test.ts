import { secret, Type } from '@claimcheck/core/plugin'
import { validator } from '@claimcheck/server/base/validation'
import {
  problemsByField,
  readSchemaForm,
  SchemaFields,
  startingValues,
} from '@claimcheck/server/features/console/parts/schema-form'
import type { Fields } from '@claimcheck/server/features/console/request-fields'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import t from 'tap'

const schema = Type.Object(
  {
    base_url: Type.String({ minLength: 3, maxLength: 20, pattern: '^https?://[^/]+$', description: 'Where it <is>.' }),
    sha: Type.Optional(Type.String({ title: 'Commit', pattern: '^[0-9a-f]{40}$' })),
    token: Type.Optional(secret({ description: 'A token.' })),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    ratio: Type.Optional(Type.Number()),
    deep: Type.Optional(Type.Boolean()),
    sure: Type.Boolean(),
    size: Type.Optional(Type.Enum(['small', 'large'])),
    level: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
    since: Type.Optional(Type.String({ format: 'date-time', default: '2026-01-31T14:02:48.123Z' })),
    owners: Type.Optional(Type.Array(Type.String({ minLength: 2 }))),
    more: Type.Optional(Type.Object({ a: Type.Integer() })),
    any: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)

const PREFIX = 'option.'

function fields(values: Fields = {}, problems: Record<string, string> = {}): string {
  return renderToString(h(SchemaFields, { schema, values, problems, prefix: PREFIX }))
}

/** The tag of the control of this name. */
function control(html: string, key: string): string {
  return html.match(new RegExp(`<(?:input|select|textarea)[^>]* name="option\\.${key}"[^>]*>`))?.[0] ?? ''
}

function read(form: Record<string, string>) {
  const named = Object.entries(form).map(([key, value]) => [PREFIX + key, value])
  return readSchemaForm(schema, Object.fromEntries(named), PREFIX)
}

t.test('every property has one labelled field of its kind', async (t) => {
  const html = fields()
  const kinds = {
    base_url: /^<input.*type="text"/,
    token: /^<input.*type="password"/,
    count: /^<input.*inputmode="numeric"/,
    ratio: /^<input.*inputmode="decimal"/,
    deep: /^<input.*type="checkbox"/,
    size: /^<select/,
    level: /^<select/,
    since: /^<input.* step="1".*type="datetime-local"/,
    owners: /^<textarea/,
    more: /^<textarea/,
    any: /^<textarea/,
  }
  for (const [key, kind] of Object.entries(kinds)) {
    t.match(control(html, key), kind, key)
    t.match(html, `<label for="option.${key}">`)
  }
  t.match(html, /<label for="option.base_url">Base URL<\/label>/)
  t.match(html, /<label for="option.sha">Commit<small> optional<\/small>/)
  t.match(html, 'Where it &lt;is>.')
  t.equal(html.match(/ required/g)?.length, 1, 'what has to be given is said of text alone: a box may stay empty')
})

t.test('a browser is told only what it understands as the schema means it', async (t) => {
  const html = fields()
  t.match(control(html, 'sha'), 'pattern="[0-9a-f]{40}"')
  t.notMatch(control(html, 'base_url'), 'pattern')
  t.match(control(html, 'base_url'), /minlength="3"/i)
  t.notMatch(html, /maxlength/i, 'a browser would cut off what is pasted')
})

t.test('what was given is shown again as text, and secrets are not', async (t) => {
  const values = {
    'option.base_url': '"><script>',
    'option.token': 's3cret',
    'option.deep': 'true',
    'option.size': 'large',
    'option.owners': 'a\n</textarea>',
  }
  const html = fields(values, { 'option.token': 'This is required.', 'option.deep': 'No.' })
  t.notMatch(html, 's3cret')
  t.notMatch(html, '<script>')
  t.equal(html.match(/<\/textarea>/g)?.length, 3)
  t.match(control(html, 'deep'), 'checked')
  t.match(html, /<option[^>]* selected[^>]*>large/)
  for (const key of ['token', 'deep']) {
    t.match(control(html, key), 'aria-invalid="true"')
    t.match(control(html, key), new RegExp(`aria-describedby="[^"]*option\\.${key}-problem"`))
    t.match(html, `id="option.${key}-problem"`)
  }
})

t.test('a time is chosen in UTC, to the second, and read as a timestamp', async (t) => {
  t.match(control(fields(startingValues(schema, PREFIX)), 'since'), 'value="2026-01-31T14:02:48"')
  t.match(fields(), /<label for="option.since">Since \(UTC\)/)
  for (const [chosen, since] of [
    ['2026-01-31T14:02', '2026-01-31T14:02:00Z'],
    ['2026-01-31T14:02:48', '2026-01-31T14:02:48Z'],
    ['2026-01-31T14:02:48+01:00', '2026-01-31T14:02:48+01:00'],
    ['yesterday', 'yesterday'],
  ] as const) {
    t.match(read({ since: chosen }), { since })
  }
})

t.test('a form is read into values of the kinds that the schema asks for', async (t) => {
  t.strictSame(read({}), { sure: false }, 'what is left empty is not given')
  t.strictSame(read({ base_url: '  ', token: '', owners: ' \r\n ', more: '' }), { sure: false })
  const form = {
    base_url: 'https://a',
    token: ' x ',
    count: ' 3 ',
    ratio: '-0.5',
    deep: 'true',
    sure: 'true',
    size: 'small',
    level: '2',
    owners: 'acme\r\n\r\n beta ',
    more: '{"a":1}',
    any: '[1]',
    other: 'not of the schema',
  }
  const expected = {
    base_url: 'https://a',
    token: ' x ',
    count: 3,
    ratio: -0.5,
    deep: true,
    sure: true,
    size: 'small',
    level: 2,
    owners: ['acme', 'beta'],
    more: { a: 1 },
    any: [1],
  }
  t.strictSame(read(form), expected)
  t.strictSame(validator(schema)(read(form), ['options']), [])
})

t.test('what is no number, no choice or no JSON stays as it is, for validation to refuse', async (t) => {
  for (const [key, text] of [
    ['count', 'three'],
    ['count', '9007199254740993'],
    ['count', '1.5'],
    ['ratio', '0x10'],
    ['ratio', '1e999'],
    ['size', 'huge'],
    ['level', '3'],
    ['more', '{"a":'],
  ] as const) {
    const given = read({ base_url: 'https://a', [key]: text })
    if (text !== '1.5') t.equal(given[key], text)
    const problems = problemsByField(validator(schema)(given, ['options']), ['options'], PREFIX)
    t.strictSame(Object.keys(problems), [PREFIX + key], text)
  }
})

t.test('problems are told at their fields, and others under no name', async (t) => {
  const issues = validator(schema)({ base_url: 'x', sure: true, owners: ['ab', 'c'], extra: 1 }, ['body', 'params'])
  const problems = problemsByField(issues, ['body', 'params'], PREFIX)
  t.match(problems, {
    'option.base_url': /at least 3 characters\.$/,
    'option.owners': /^line 2: .*at least 2 characters\.$/,
    'option.extra': /not permitted/,
  })
  t.match(problemsByField(validator(schema)({ sure: true }, []), [], PREFIX), {
    'option.base_url': 'This is required.',
  })
  t.match(problemsByField(validator(schema)('x', ['options']), ['options'], PREFIX), {
    '': 'Enter a JSON object, such as {"name": "value"}.',
  })
  t.strictSame(
    problemsByField(issues, ['body', 'target'], PREFIX),
    {},
    'what is elsewhere is no concern of these fields',
  )
})

t.test('a form starts with the defaults of the schema', async (t) => {
  const withDefaults = Type.Object({
    name: Type.String({ default: 'x' }),
    on: Type.Optional(Type.Boolean({ default: true })),
    off: Type.Boolean({ default: false }),
    count: Type.Integer({ default: 3 }),
    list: Type.Array(Type.String(), { default: ['a', 'b'] }),
    more: Type.Object({}, { default: { a: 1 } }),
    token: secret({ description: 'x' }),
  })
  const values = startingValues(withDefaults, '')
  t.strictSame(values, { name: 'x', on: 'true', off: '', count: '3', list: 'a\nb', more: '{\n  "a": 1\n}' })
  t.strictSame(readSchemaForm(withDefaults, values, ''), {
    name: 'x',
    on: true,
    off: false,
    count: 3,
    list: ['a', 'b'],
    more: { a: 1 },
  })
  t.equal(readSchemaForm(withDefaults, { ...values, on: undefined }, '').on, false, 'unticked is told from not asked')
})
