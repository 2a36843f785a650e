/**
 * Allows a plugin's schemas a closed list of keywords of JSON Schema. The host applies these schemas to what strangers send, so each keyword has
 * a cost that grows with the value alone, and none lets members or text through that the schema does not describe.
 */

type Json = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

/** Limit of the depth of schemas: deeper ones have no use in a claim, and each level multiplies the cost of `anyOf`. */
const MOST_LEVELS = 8
/** Limit of the rules for each value, because a claim may have two thousand values, each with a mistake by each rule. */
const MOST_RULES = 32
/** Number of values of `enum` that take as long as a mistake. */
const VALUES_OF_RULE = 100

const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => typeof value === 'number'
const isScalar: Check = (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value)
const isAnything: Check = () => true
const isSchema: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(check)

const KEYWORDS = new Map<string, readonly [check: Check, form: string]>([
  ['type', [(value) => isText(value) || isListOf(isText)(value), 'the name of a type']],
  ['const', [isScalar, 'a text, a number, true, false or null']],
  ['enum', [isListOf(isScalar), 'a list of texts and numbers']],
  ['anyOf', [isListOf(isSchema), 'a list of schemas']],
  ['not', [(value) => isSchema(value) && Object.keys(value as Json).join() === 'pattern', 'one pattern']],
  ['properties', [isSchema, 'schemas by their names']],
  ['required', [(value) => Array.isArray(value) && value.every(isText), 'a list of names']],
  ['additionalProperties', [(value) => value === false, 'false']],
  ['items', [isSchema, 'one schema']],
  ...[
    'minItems',
    'maxItems',
    'minLength',
    'maxLength',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
  ].map((name) => [name, [isNumber, 'a number']] as const),
  ...['pattern', 'format', 'title', 'description', 'x-pattern-help'].map((name) => [name, [isText, 'a text']] as const),
  ['x-secret', [(value) => value === true, 'true']],
  ['examples', [isAnything, '']],
  ['default', [isAnything, '']],
])

const ALTERNATIVES: Readonly<Record<string, string>> = {
  $ref: 'write out what it refers to',
  $defs: 'write out each schema where it is used',
  $dynamicRef: 'write out what it refers to',
  allOf: 'write one schema that says all of it',
  oneOf: 'use anyOf',
  if: 'use anyOf, or check it in normalize',
  patternProperties: 'name each member in properties',
  propertyNames: 'name each member in properties',
  unevaluatedProperties: 'use additionalProperties: false',
  uniqueItems: 'sort the list and drop repetitions in normalize',
  contains: 'check it in normalize',
  multipleOf: 'use type: integer',
}

/**
 * Lists what a plugin's schema has beyond the allowed keywords.
 * @param where the schema's name in messages
 * @returns phrases that follow the owner of the schema, such as "the profile"
 */
export function keywordProblems(schema: unknown, where: string): string[] {
  const problems = problemsAt(schema, where, 1)
  if (problems.length > 0 || repeatedRules(schema as Json) <= MOST_RULES) return problems
  return [
    `has more than ${MOST_RULES} rules in the lists and alternatives of ${where}: use enum, or check it in normalize`,
  ]
}

/** Counts the rules that apply to each value. @param within `items` in a list's items, `anyOf` among alternatives */
function repeatedRules(schema: Json, within?: 'items' | 'anyOf'): number {
  const {
    properties = {},
    items,
    anyOf = [],
    enum: values = [],
    required = [],
  } = schema as Readonly<{
    properties?: Readonly<Record<string, Json>>
    items?: Json
    anyOf?: readonly Json[]
    enum?: readonly unknown[]
    required?: readonly string[]
  }>
  // A comparison with one value of `const` costs next to nothing.
  const isAlternative = within === 'anyOf' && schema.const === undefined
  const ofItem = 1 + required.length + Math.floor(values.length / VALUES_OF_RULE)
  const own = within === 'items' ? ofItem : Number(isAlternative)
  return [
    ...Object.values(properties).map((inner) => repeatedRules(inner, within)),
    ...anyOf.map((inner) => repeatedRules(inner, within ?? 'anyOf')),
    ...(items ? [repeatedRules(items, 'items')] : []),
  ].reduce((sum, rules) => sum + rules, own)
}

function problemsAt(schema: unknown, where: string, level: number): string[] {
  if (!isSchema(schema)) return [`has no schema at ${where}: write an object with a type`]
  if (level > MOST_LEVELS) return [`has a schema at ${where} that is more than ${MOST_LEVELS} levels deep: flatten it`]
  const { properties, items, anyOf } = schema as Json
  const own = Object.entries(schema as Json).flatMap(([keyword, value]) => problemOf(keyword, value, where))
  const within = (inner: unknown, name: string) => problemsAt(inner, `${where}.${name}`, level + 1)
  return [
    ...own,
    ...(isSchema(properties) ? Object.entries(properties as Json).flatMap(([name, inner]) => within(inner, name)) : []),
    ...(isSchema(items) ? within(items, 'items') : []),
    ...(isListOf(isSchema)(anyOf)
      ? (anyOf as unknown[]).flatMap((inner, index) => within(inner, `anyOf.${index}`))
      : []),
  ]
}

function problemOf(keyword: string, value: unknown, where: string): string[] {
  const known = KEYWORDS.get(keyword)
  if (known === undefined) {
    const instead = Object.hasOwn(ALTERNATIVES, keyword)
      ? ALTERNATIVES[keyword]
      : `use only ${[...KEYWORDS.keys()].join(', ')}`
    return [`has the keyword ${keyword} in ${where}, which schemas of plugins may not use: ${instead}`]
  }
  const [check, form] = known
  return value === undefined || check(value) ? [] : [`has another ${keyword} in ${where} than ${form}`]
}
