/** Strict JSON, compared with JSON.parse. Threat A6 of `security.md`. */
import { isDeepStrictEqual } from 'node:util'
import { JsonError, parseStrictJson } from '@claimcheck/core/receipts'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../../test/support/extent.ts'

function codeOf(text: string, options?: { maxDepth?: number; maxValues?: number }): string {
  try {
    parseStrictJson(text, options)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    return error.code
  }
}

/** The result of JSON.parse; `undefined` when it refuses the text. */
function parseLeniently(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

t.test('every JSON text is read as JSON.parse reads it', async (t) => {
  const values = fc.jsonValue({ noUnicodeString: false })
  const property = fc.property(values, fc.constantFrom(0, 2, '\t'), (value, indent) => {
    const text = JSON.stringify(value, null, indent)
    return isDeepStrictEqual(parseStrictJson(text).value, JSON.parse(text))
  })
  t.doesNotThrow(() => fc.assert(property, runs(1000)))
})

t.test('a text that JSON.parse refuses is refused, and one that it accepts is never refused as not_json', async (t) => {
  const pieces = fc.constantFrom(
    ...'{}[]",:0123456789-+.eE \t\n\r\\u/truefalsn',
    '"a"',
    '"a":',
    'null',
    'true',
    '\\ud83d',
    '\\ude00',
    '😀',
    '\u00a0',
    '1e999',
  )
  const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))
  const property = fc.property(texts, (text) => {
    const value = parseLeniently(text)
    const code = codeOf(text)
    if (code === 'accepted') return isDeepStrictEqual(parseStrictJson(text).value, value)
    return value === undefined || code !== 'not_json'
  })
  t.doesNotThrow(() => fc.assert(property, runs(20_000)))
})

t.test('what two readers could understand differently is refused with a code for each kind', async (t) => {
  const rows = [
    ['{"a":1,"a":1}', 'duplicate_member'],
    ['{"a":1,"\\u0061":2}', 'duplicate_member'],
    ['{"__proto__":1,"__proto__":2}', 'duplicate_member'],
    ['[{"a":{"b":1,"b":2}}]', 'duplicate_member'],
    ['"\\ud800"', 'lone_surrogate'],
    ['"\\udc00\\ud800"', 'lone_surrogate'],
    ['"\ud800"', 'lone_surrogate'],
    ['{"\\ud800":1}', 'lone_surrogate'],
    ['1e999', 'number_out_of_range'],
    ['-1e999', 'number_out_of_range'],
    ['', 'not_json'],
    ['\ufeff{}', 'not_json'],
    ['{} {}', 'not_json'],
    ['"\u0000"', 'not_json'],
    ['"a', 'not_json'],
    ['"\\', 'not_json'],
    ['{"a"}', 'not_json'],
    ['{a:1}', 'not_json'],
    ['[1,]', 'not_json'],
    ['01', 'not_json'],
    ['1.', 'not_json'],
    ['-', 'not_json'],
    ['nul', 'not_json'],
    ['undefined', 'not_json'],
  ] as const
  for (const [text, code] of rows) t.equal(codeOf(text), code, JSON.stringify(text))
})

t.test('the error has the position', async (t) => {
  t.throws(() => parseStrictJson('{"a": tru}'), { code: 'not_json', position: 6 })
})

t.test('a pair of surrogates is one character, escaped or not', async (t) => {
  t.equal(parseStrictJson('"\\ud83d\\ude00"').value, '😀')
  t.equal(parseStrictJson('"😀"').value, '😀')
})

t.test('a member named __proto__ is an ordinary member, and not the prototype', async (t) => {
  const { value } = parseStrictJson('{"__proto__":{"admin":true}}')
  t.strictSame(Object.keys(value as object), ['__proto__'])
  t.equal((value as Record<string, unknown>).admin, undefined)
})

t.test('whether all numbers are integers depends on how they are written', async (t) => {
  const integers = ['0', '-0', '1', '-1', '9007199254740991', '-9007199254740991', '[1,{"a":2}]', '"1.5"']
  const others = ['1.0', '0.0', '1e3', '1E0', '1.5', '9007199254740992', '-9007199254740993', '[1,{"a":2.0}]']
  for (const text of integers) t.equal(parseStrictJson(text).integersOnly, true, text)
  for (const text of others) t.equal(parseStrictJson(text).integersOnly, false, text)
})

t.test('nesting beyond the limit is refused before the stack overflows', async (t) => {
  t.equal(codeOf('[[1]]', { maxDepth: 2 }), 'accepted')
  t.equal(codeOf('[[[1]]]', { maxDepth: 2 }), 'too_deep')
  t.equal(codeOf('{"a":{"a":{}}}', { maxDepth: 2 }), 'too_deep')
  t.equal(codeOf('['.repeat(1e6)), 'too_deep')
  t.equal(codeOf('[1,{"a":2}]', { maxValues: 4 }), 'accepted')
  t.equal(codeOf('[1,{"a":2}]', { maxValues: 3 }), 'too_many')
  t.equal(codeOf('{"a":'.repeat(1e6)), 'too_deep')
})

t.test('long strings are read completely', async (t) => {
  const long = 'a'.repeat(5e6)
  t.ok(parseStrictJson(JSON.stringify(long)).value === long)
  const escapes = '\n'.repeat(1e6)
  t.ok(parseStrictJson(JSON.stringify(escapes)).value === escapes)
})
