/** Matches the patterns of untrusted plugins in linear time, so that no text keeps the host busy. */
import { RE2JS } from 're2js'
import type { TSchema } from '../typebox.ts'

interface Pattern {
  test(text: string): boolean
}

interface LinearPattern extends Pattern {
  /** The size of the compiled pattern, in instructions. */
  readonly size: number
}

/** The room that the schemas of one plugin may still take together. */
export interface SchemaBudget {
  characters: number
  instructions: number
  /** The patterns that the plugin has used so far. */
  readonly patterns: Set<string>
}

/** Limit of the instructions of one pattern. A counted repetition is as many instructions: `[a-z]{1,100}` has about 200. */
const MOST_INSTRUCTIONS = 1000
/**
 * Limit of what a validation may cost: each pattern costs its instructions times the length of the text. Params of 4 KiB never exceed it with
 * patterns of `MOST_INSTRUCTIONS` together; that takes some 100 ms.
 */
const MOST_STEPS = MOST_INSTRUCTIONS * 4096
const MOST_SCHEMA_LENGTH = 65_536
/** Limit of the characters of a plugin's schemas together: compiled, a character takes up to 400 bytes. */
const MOST_LENGTH_TOGETHER = 131_072
/** Limit of the instructions of a plugin's patterns together, which take some megabytes. */
const MOST_INSTRUCTIONS_TOGETHER = 100_000

// A reference can make a small schema large beyond measure, and an identifier is the same for all plugins.
const REFUSED_KEYWORDS: ReadonlySet<string> = new Set([
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$schema',
])
/** `url` takes 13 s for 64 KiB of colons; `regex` compiles what it is given. The other formats are linear. */
const REFUSED_FORMATS: ReadonlySet<string> = new Set(['url', 'regex'])

// The compiled patterns by their text, and not by their schema: schemas get into others, whole, in part or copied.
const linear = new Map<string, LinearPattern>()
let steps = 0

/** The engine of regular expressions for Ajv: patterns of untrusted plugins match in linear time, and others as usual. */
export const patternEngine: { (pattern: string, flags: string): Pattern; code: string } = Object.assign(
  (pattern: string, flags: string): Pattern => linear.get(pattern) ?? new RegExp(pattern, flags),
  { code: 'patternEngine' },
)

/** Sets the cost of patterns back to 0, because each validation has its own limit. */
export function beginValidation(): void {
  steps = 0
}

/** Creates the budget of one plugin, whatever number of schemas it has. */
export function createSchemaBudget(): SchemaBudget {
  return { characters: MOST_LENGTH_TOGETHER, instructions: MOST_INSTRUCTIONS_TOGETHER, patterns: new Set() }
}

/**
 * Has the patterns of a schema matched in linear time, in every schema that is compiled from then on. They mean the same then but for rare
 * characters: `\s` is no more than spaces, tabs and line ends of ASCII, and `.` is all but the line feed.
 *
 * @param budget the budget of the plugin that the schema is of
 * @returns one line for each part of the schema that an isolated plugin may not use; empty when it can be compiled
 */
export function markLinear(schema: TSchema, budget = createSchemaBudget()): readonly string[] {
  const length = JSON.stringify(schema).length
  if (length > MOST_SCHEMA_LENGTH) return [`has ${length} characters; a schema has at most ${MOST_SCHEMA_LENGTH}`]
  budget.characters -= length
  if (budget.characters < 0)
    return [`makes the schemas of the plugin too large: together they have at most ${MOST_LENGTH_TOGETHER} characters`]
  return [...new Set(problemsIn(schema, budget))]
}

/** Finds problems in everything that could be a keyword: properties and data may have the same names. */
function problemsIn(value: unknown, budget: SchemaBudget): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [
    ...keywordProblems(key, member, budget),
    ...problemsIn(member, budget),
  ])
}

function keywordProblems(key: string, value: unknown, budget: SchemaBudget): readonly string[] {
  if (key === 'patternProperties' && typeof value === 'object' && value !== null) {
    return Object.keys(value).flatMap((pattern) => patternProblems(pattern, budget))
  }
  if (typeof value !== 'string') return []
  if (key === 'pattern') return patternProblems(value, budget)
  if (key === 'format' && REFUSED_FORMATS.has(value))
    return [`has the format ${value}, which is not checked in linear time`]
  return REFUSED_KEYWORDS.has(key) ? [`has ${key}: write out what it refers to`] : []
}

const TOO_MANY_PATTERNS = `makes the patterns of the plugin too large: together they have at most ${MOST_INSTRUCTIONS_TOGETHER} instructions`

function patternProblems(pattern: string, budget: SchemaBudget): readonly string[] {
  if (budget.patterns.has(pattern)) return []
  // Patterns beyond the plugin's budget are not compiled.
  if (budget.instructions < 0) return [TOO_MANY_PATTERNS]
  budget.patterns.add(pattern)
  try {
    const compiled = linear.get(pattern) ?? compile(pattern)
    budget.instructions -= compiled.size
    if (budget.instructions < 0) return [TOO_MANY_PATTERNS]
    linear.set(pattern, compiled)
    return []
  } catch (error) {
    const reason = (error as Error).message
    return [`has the pattern ${JSON.stringify(pattern)}, which the service cannot match safely: ${reason}`]
  }
}

function compile(pattern: string): LinearPattern {
  // Clients and browsers read the pattern, too, by the rules of JSON schema.
  new RegExp(pattern, 'u')
  // The translation to RE2 would take a reference by name for the letter k.
  if (/(?:^|[^\\])(?:\\\\)*\\k/.test(pattern)) throw new Error('it refers to what a group matched')
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
  const size = compiled.programSize()
  if (size > MOST_INSTRUCTIONS)
    throw new Error(
      `it has ${size} instructions, and may have ${MOST_INSTRUCTIONS}: repeat with * or +, and bound the text by maxLength`,
    )
  return {
    size,
    test(text) {
      steps += size * (text.length + 1)
      // A match that costs more than the limit counts as none: params of a valid claim cost less.
      return steps <= MOST_STEPS && compiled.matcher(text).find()
    },
    // Ajv tells patterns apart by their text.
    toString: () => `linear ${pattern}`,
  } as LinearPattern
}
