/** Each way in which a profile is unfit for receipts and for people has a row. */

import { profileProblems } from '@claimcheck/core/hosting'
import type { ActionProfile } from '@claimcheck/core/plugin'
import t from 'tap'
import { type TSchema, Type } from 'typebox'

const CLOSED = { additionalProperties: false }
const good = {
  action: 'test.thing.do',
  version: '1',
  summary: 'A thing.',
  words: {
    title: 'Thing',
    target: 'Place',
    claim: ['{name} was done at {target} by {by}.', '{name} was done at {target}.'],
    outcomes: {
      verified: '{name} was done.',
      late: '{name:short} was done late.',
      mismatch: 'It is {found}, not {name}.',
      failed: '{name} was not done.',
    },
    facts: { found: 'It is {found}.', is_big: { true: 'It is big.', false: ['It is not big.'] } },
    found: { name: 'found' },
  },
  target: Type.String(),
  params: Type.Object(
    { name: Type.String({ title: 'Name' }), by: Type.Optional(Type.String({ title: 'By' })) },
    CLOSED,
  ),
  facts: Type.Object(
    {
      found: Type.String({ title: 'Found', pattern: '^[a-z]+$', maxLength: 40 }),
      is_big: Type.Optional(Type.Boolean({ title: 'Is big' })),
    },
    CLOSED,
  ),
  required: { target: 'target', name: 'content' },
  toleranceMs: 1,
  deadlineMs: 2,
  maxDeadlineMs: 3,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: false },
} as const satisfies ActionProfile
const { words } = good

const fact = (schema: object) => ({
  facts: Type.Object({ ...good.facts.properties, more: { title: 'More', ...schema } as TSchema }, CLOSED),
})
const outcomes = (over: object) => ({ words: { ...words, outcomes: { ...words.outcomes, ...over } } })

const facts: [what: string, schema: object, isPlain: boolean][] = [
  ['an integer', { type: 'integer' }, true],
  ['a boolean', { type: 'boolean' }, true],
  ['null', { type: 'null' }, true],
  ['one value', { const: 'a' }, true],
  ['a list of values', { enum: ['a', 'b'] }, true],
  ['a time', { type: 'string', format: 'date-time' }, true],
  ['a day', { type: 'string', format: 'date' }, true],
  ['a UUID', { type: 'string', format: 'uuid' }, true],
  ['a pattern with a largest length', { type: 'string', pattern: '^[a-z]+$', maxLength: 1024 }, true],
  ['a pattern that bounds itself', { type: 'string', pattern: '^[0-9a-f]{40}$' }, true],
  ['a pattern between two lengths', { type: 'string', pattern: '^[0-9a-f]{7,64}$' }, true],
  ['a pattern whose stars are text', { type: 'string', pattern: '^\\*[*+]\\+$' }, true],
  ['a list of names with commas', { type: 'string', pattern: '^[a-z]{1,9}(?:, [a-z]{1,9}){0,6}$' }, true],
  ['a name in any script', { type: 'string', pattern: '^[\\p{L}\\p{N}_-]{1,40}$' }, true],
  ['a pattern with an exception', { type: 'string', pattern: '^[a-z.]{1,40}$', not: { pattern: '\\.\\.' } }, true],
  ['a plain one or null', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, true],
  ['a fraction', { type: 'number' }, false],
  ['free text', { type: 'string' }, false],
  ['text with a largest length alone', { type: 'string', maxLength: 40 }, false],
  ['an unbounded pattern', { type: 'string', pattern: '^[a-z]+$' }, false],
  ['a pattern with an open repetition', { type: 'string', pattern: '^[a-z]{3,}$' }, false],
  ['a pattern without its beginning', { type: 'string', pattern: '[a-z]{3}$', maxLength: 3 }, false],
  ['a pattern without its end', { type: 'string', pattern: '^[a-z]{3}', maxLength: 3 }, false],
  ['a pattern for a whole page', { type: 'string', pattern: '^[a-z]+$', maxLength: 1025 }, false],
  ['a format without bounds', { type: 'string', format: 'uri' }, false],
  ['a list', { type: 'array', items: { type: 'integer' } }, false],
  ['an object', { type: 'object', properties: {} }, false],
  ['anything', {}, false],
  ['a plain one or free text', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, false],
]
for (const [what, schema, isPlain] of facts) {
  t.test(`a fact that is ${what} is ${isPlain ? 'taken' : 'refused'}`, async (t) => {
    const problems = profileProblems({ ...good, ...fact(schema) })
    if (isPlain) t.strictSame(problems, [])
    else
      t.match(problems, [/^has the fact more, which (?:is no integer|has a pattern that is not anchored|has no end)/])
    t.equal(problems.length, isPlain ? 0 : 1)
  })
}

/** Each pattern lets free text into a signed receipt. */
const PATTERNS: [what: string, pattern: string][] = [
  ['everything behind an alternative', '^|[\\s\\S]*$'],
  ['everything', '^[\\s\\S]*$'],
  ['everything by an empty exception', '^[^]*$'],
  ['a line', '^.*$'],
  ['a line behind a prefix', '^sha:.*$'],
  ['all but line feeds', '^[^\\n]*$'],
  ['all but white space', '^\\S+$'],
  ['all but white space of ASCII', '^[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$'],
  ['all that is no digit', '^\\D+$'],
  ['all that is no letter', '^\\W+$'],
  ['all that is no upper-case letter', '^\\P{Lu}+$'],
  ['words', '^[a-z ]+$'],
  ['words by their code', '^[a-z\\x20]+$'],
  ['words of alternatives', '^(?:[a-z]| )+$'],
  ['words with a space before each', '^(?: [a-z]+)+$'],
  ['words with a space behind each', '^(?:[a-z]+ )+$'],
  ['words whose comma is optional', '^(?:[a-z]+,? )+$'],
  ['words with spaces that do not break', '^[a-z\\u00a0]+$'],
  ['words with a tab', '^[a-z\\t]+$'],
  ['words by \\s', '^(?:\\w+\\s)+$'],
  ['text that is reordered', '^[a-z\\u202a-\\u202e]+$'],
  ['text of any end', '^[a-z]+\\$'],
  ['text of any beginning', '^[a-z]+$|^x$'],
  ['all but white space of RE2', '^[^\\s\\x00-\\x08\\x0e-\\x1f\\x7f-\\xa0\\u1680\\u2000-\\u206f\\u3000\\ufeff]+$'],
  ['a class that RE2 ends elsewhere', '^(?:[a-z]|[[:^alnum:]\\][a])*$'],
  ['what was said before', '^([a-z]+)-\\1$'],
]
for (const [what, pattern] of PATTERNS) {
  t.test(`a fact by a pattern for ${what} is refused`, async (t) => {
    const problems = profileProblems({ ...good, ...fact({ type: 'string', pattern, maxLength: 40 }) })
    t.match(problems, [/^has the fact more, which has a pattern that (?:is|lets|has) /])
    t.equal(problems.length, 1)
  })
}

/** Each keyword costs more than the value is long, or lets through what the schema does not describe. */
const KEYWORDS: [schema: object, advice: RegExp][] = [
  [{ uniqueItems: true }, /keyword uniqueItems in .*: sort the list/],
  [{ patternProperties: { '^': {} } }, /keyword patternProperties in .*: name each member/],
  [{ propertyNames: {} }, /keyword propertyNames/],
  [{ oneOf: [{}] }, /keyword oneOf in .*: use anyOf/],
  [{ allOf: [{}] }, /keyword allOf/],
  [{ if: {} }, /keyword if in /],
  [{ $ref: '#' }, /keyword \$ref in .*: write out/],
  [{ $id: 'a' }, /keyword \$id in .*: use only type, const, /],
  [{ contains: {} }, /keyword contains/],
  [{ multipleOf: 1e-9 }, /keyword multipleOf/],
  [{ constructor: {} }, /keyword constructor in .*: use only/],
  [{ not: {} }, /another not in .* than one pattern/],
  [{ not: { pattern: 'a', uniqueItems: true } }, /another not in /],
  [{ enum: [{ a: 1 }] }, /another enum in /],
  [{ const: ['a'] }, /another const in /],
  [{ items: [{}] }, /another items in /],
  [{ additionalProperties: {} }, /another additionalProperties in .* than false/],
  [{ anyOf: [] }, /another anyOf in /],
  [{ properties: { b: true } }, /no schema at .*\.b: /],
]
for (const [schema, advice] of KEYWORDS) {
  t.test(`${JSON.stringify(schema)} is refused wherever it is in a profile`, async (t) => {
    const places: [where: string, over: object][] = [
      ['facts.more', fact({ type: 'integer', ...schema })],
      [
        'params.more',
        { params: Type.Object({ name: Type.String({ title: 'Name' }), more: schema as TSchema }, CLOSED) },
      ],
      ['target', { target: { type: 'string', ...schema } }],
      ['target.items.anyOf.0', { target: { type: 'string', items: { anyOf: [schema] } } }],
    ]
    for (const [where, over] of places) {
      const problems = profileProblems({ ...good, ...over })
      t.match(problems, [advice], where)
      t.match(problems[0], where)
    }
  })
}

/** Each value of a claim may break each rule that is applied to it. */
const many = (count: number, schema: (index: number) => object) => Array.from({ length: count }, (_, at) => schema(at))
const RULES: [what: string, schema: object, isRefused: boolean][] = [
  ['a list of many alternatives', { items: { anyOf: many(40, (at) => ({ const: at })) } }, true],
  ['alternatives of lists', { anyOf: many(40, () => ({ items: { type: 'string' } })) }, true],
  ['a list of objects with many names', { items: { required: many(40, String as never) } }, true],
  ['a list of a value of thousands', { items: { enum: many(4000, Number as never) } }, true],
  ['many alternatives for a text', { anyOf: many(40, (at) => ({ maxLength: at })) }, true],
  ['many alternatives for an object', { anyOf: many(40, () => ({ additionalProperties: false })) }, true],
  ['one of many values', { anyOf: many(400, (at) => ({ const: at })) }, false],
  ['a list of a value of hundreds', { items: { enum: many(400, Number as never) } }, false],
  [
    'many members',
    { properties: Object.fromEntries(many(400, (at) => [`m${at}`, { maxLength: 9 }] as object) as never) },
    false,
  ],
]
for (const [what, schema, isRefused] of RULES) {
  t.test(`a schema of ${what} is ${isRefused ? 'refused' : 'taken'}`, async (t) => {
    const problems = profileProblems({ ...good, target: { type: 'string', ...schema } as typeof good.target })
    t.match(problems, isRefused ? [/^has more than 32 rules in the lists and alternatives of target: /] : [])
    t.equal(problems.length, isRefused ? 1 : 0)
  })
}

t.test('a schema that is very deep is refused without its depths', async (t) => {
  let target: object = { type: 'string' }
  for (let level = 0; level < 100_000; level++) target = { items: target }
  t.match(profileProblems({ ...good, target: target as typeof good.target }), [
    /^has a schema at target\.items.* levels deep/,
  ])
})

const rows: [what: string, over: Partial<ActionProfile>, problem: RegExp][] = [
  ['facts that are open', { facts: Type.Object(good.facts.properties) }, /^has facts that are not closed/],
  ['params that are open', { params: Type.Object(good.params.properties) }, /^has params that are not closed/],
  [
    'facts that are open to one type',
    { facts: { ...good.facts, additionalProperties: {} } },
    /^has another additionalProperties in facts than false/,
  ],
  ['a fact without a title', fact({ type: 'integer', title: undefined }), /^has no title for facts\.more/],
  ['a fact with an empty title', fact({ type: 'integer', title: '' }), /^has no title for facts\.more/],
  [
    'a param without a title',
    { params: Type.Object({ ...good.params.properties, more: Type.Integer() }, CLOSED) },
    /^has no title for params\.more/,
  ],
  ['a required field that claims do not have', { required: { nam: 'content' } }, /^requires the field nam,/],
  ['a required field that is a fact', { required: { found: 'content' } }, /^requires the field found,/],
  [
    'a required field that objects inherit',
    { required: { constructor: 'content' } as Record<string, 'content'> },
    /^requires the field constructor/,
  ],
  ['a fact to watch that there is not', { underWay: 'pending' }, /^watches the fact pending, which it does not have$/],
  [
    'another fact to watch that there is not',
    { settles: 'pending' },
    /^watches the fact pending, which it does not have$/,
  ],
  ['a fact to show that there is not', { shows: { closed: true } }, /^shows the fact closed, which it does not have$/],
  [
    'words for a fact that there is not',
    { words: { ...words, facts: { fond: 'It is there.' } } },
    /^has words for the fact fond/,
  ],
  ['words for a param', { words: { ...words, facts: { name: 'It is there.' } } }, /^has words for the fact name/],
  [
    'a claim that names what there is not',
    { words: { ...words, claim: '{nam} is.' } },
    /^names \{nam\} in words\.claim/,
  ],
  [
    'a short name of what there is not',
    outcomes({ late: '{nam:short} is.' }),
    /^names \{nam\} in words\.outcomes\.late/,
  ],
  [
    'the second of two templates that names what there is not',
    outcomes({ failed: ['{found} is.', '{nam} is.'] }),
    /^names \{nam\} in words\.outcomes\.failed/,
  ],
  [
    'a fact whose sentence names what there is not',
    { words: { ...words, facts: { found: '{fond} is.' } } },
    /^names \{fond\} in words\.facts\.found/,
  ],
  [
    "a value's sentence that names what there is not",
    { words: { ...words, facts: { is_big: { true: '{fond} is.' } } } },
    /^names \{fond\} in words\.facts\.is_big\.true/,
  ],
  ['a sentence without a full stop', outcomes({ late: 'It was late' }), /outcomes\.late that is not one/],
  ['a sentence without a capital letter', outcomes({ late: 'it was late.' }), /outcomes\.late that is not one/],
  [
    'a found fact that there is not',
    { words: { ...words, found: { name: 'fond' } } },
    /^names the fact fond in words\.found/,
  ],
  ['a fact found for a fact', { words: { ...words, found: { is_big: 'found' } } }, /^has words\.found for is_big/],
  [
    'a found fact that its param can never equal',
    { words: { ...words, found: { name: 'is_big' } } },
    /^names the fact is_big in words\.found for name, and they are never equal: one is of type boolean, the other of type string/,
  ],
  ['a fact to show that is never so', { shows: { is_big: 1 } }, /^shows the fact is_big as 1, which it never is/],
  ['a list of values of which none is possible', { shows: { is_big: [] } }, /^shows the fact is_big as \[\]/],
  ['a comparison of what claims do not have', { compared: { nam: 'none' } }, /^compares nam, which is no param/],
  [
    'a comparison with a fact that there is not',
    { compared: { name: { fact: 'fond', as: 'exact' } } },
    /^compares name with the fact fond, which it does not have/,
  ],
  [
    'a comparison with what is never equal',
    { compared: { name: { fact: 'is_big', as: 'exact' } } },
    /^names the fact is_big in compared for name/,
  ],
  [
    'a digest that is a boolean',
    { compared: { name: { fact: 'is_big', as: 'digest' } } },
    /^compares name with the fact is_big as digest, and both have to be texts/,
  ],
  [
    'facts that are never so',
    { compared: { name: { facts: ['found', 'is_big'], are: true } } },
    /^compares name with the fact found, which is never true/,
  ],
  ['a time of the past that is none', { past: ['found'] }, /^has found in past, which is no fact with the format/],
  ['an outcome without a sentence', outcomes({ late: [] }), /^has no sentence in words\.outcomes\.late/],
]
t.test('a profile may say how its facts are compared', async (t) => {
  const compared = { target: 'none', name: { fact: 'found', as: 'case' } } as const
  t.strictSame(profileProblems({ ...good, compared, shows: { is_big: { not: false }, found: ['a', 'b'] } }), [])
  const counted = fact({ type: 'integer' })
  t.strictSame(profileProblems({ ...good, ...counted, shows: { more: { atLeast: 1 } } }), [])
  t.strictSame(profileProblems({ ...good, ...counted, compared: { name: { facts: ['more'], are: 0 } } }), [])
})
t.test('a profile with everything in order has no problem', async (t) => t.strictSame(profileProblems(good), []))
for (const [what, over, problem] of rows) {
  t.test(`a profile with ${what} has one problem`, async (t) => {
    const problems = profileProblems({ ...good, ...over })
    t.equal(problems.length, 1, problems.join('\n'))
    t.match(problems[0], problem)
  })
}

t.test('all problems are told at once', async (t) => {
  const open = {
    facts: Type.Object({ a: Type.String() }),
    params: Type.Object({}),
    required: { a: 'content' },
  } as const
  // Two open objects, an unbounded fact, no title, a required fact, and ten names that are gone.
  t.equal(profileProblems({ ...good, ...open, words: { ...words, facts: {} } }).length, 15)
})
