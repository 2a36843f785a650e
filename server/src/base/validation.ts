/** Validates values against TypeBox schemas and reports the mistakes in the form of FastAPI. */
import { MAX_BYTES } from '@claimcheck/core/api'
import { beginValidation, patternEngine } from '@claimcheck/core/patterns/linear'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import type { Issue, Loc } from './errors.ts'
import { readTimestamp } from './timestamp.ts'
import { PATTERN_HELP, wording } from './validation-wording.ts'

/** Returns the first hundreds of mistakes in `value`, which is at the position `loc`; empty when it is valid. Does not change or coerce the value. */
export type Validator = (value: unknown, loc: Loc) => Issue[]

const MAX_ECHOED_LENGTH = 128
/** The most mistakes that are worded: to word one takes longer than to find it. */
const MOST_FINDINGS = 500
/** The most characters of reported mistakes as JSON: a plugin chooses what is said of a mistake, which may come hundreds of times. */
const MOST_CHARACTERS = 65_536

// Keywords that apply branches, whose own findings say nothing: those of the branches say what is wrong.
const SILENT_KEYWORDS: ReadonlySet<string> = new Set(['if', 'anyOf'])

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  // Optimizing the compiled code takes longer than the service ever gains by it.
  code: { regExp: patternEngine, optimize: false },
  // The service's own schemas are valid. `schemaProblem` checks those of others, so that only they wait for the schema of schemas.
  validateSchema: false,
})
addFormats.default(ajv)
// Times in the params of actions take the forms that the times of claims take.
ajv.addFormat('date-time', (text) => typeof readTimestamp(text) === 'number')
ajv.addKeyword('x-secret')
ajv.addKeyword(PATTERN_HELP)
ajv.addKeyword({
  keyword: MAX_BYTES,
  type: 'object',
  schemaType: 'number',
  validate: (maximum: number, value: object) => Buffer.byteLength(JSON.stringify(value)) <= maximum,
})

const compiled = new WeakMap<TSchema, Validator>()

/**
 * Compiles each schema once.
 * @param schema one of the service's own, or one in which `schemaProblem` finds none
 */
export function validator(schema: TSchema): Validator {
  const known = compiled.get(schema)
  if (known) return known
  const check = ajv.compile(schema)
  const validate: Validator = (value, loc) => {
    beginValidation()
    if (check(value)) return []
    const findings = check.errors!.filter(({ keyword }) => !SILENT_KEYWORDS.has(keyword))
    return short(firstOfEachKind(findings.slice(0, MOST_FINDINGS).map((error) => toIssue(error, value, loc))))
  }
  compiled.set(schema, validate)
  return validate
}

/** Says why a schema is invalid, or does not compile; undefined when it is in order. */
export function schemaProblem(schema: TSchema): string | undefined {
  try {
    ajv.validateSchema(schema, true)
    validator(schema)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function toIssue(error: ErrorObject, value: unknown, loc: Loc): Issue {
  const position = [...loc, ...pathTo(error, value)]
  return { loc: position, ...wording(error, position), ...echoedInput(error) }
}

/** Turns Ajv's instance path into names and indexes, which end with the missing or unexpected member if that is the mistake. */
function pathTo({ instancePath, params }: ErrorObject, value: unknown): (string | number)[] {
  let current = value
  const path = instancePath
    .split('/')
    .slice(1)
    .map((segment) => {
      const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(current) ? Number(name) : name
      current = (current as Record<string | number, unknown>)[step]
      return step
    })
  const member: unknown = params.missingProperty ?? params.additionalProperty ?? params.propertyName
  return typeof member === 'string' ? [...path, member] : path
}

/** Echoes the mistaken value where it is a short scalar that cannot be a credential: an unexpected member may be a misspelt secret. */
function echoedInput({ keyword, data, parentSchema }: ErrorObject): Pick<Issue, 'input'> {
  if (keyword === 'required' || keyword === 'additionalProperties' || parentSchema?.['x-secret'] === true) return {}
  if (typeof data === 'string') return data.length <= MAX_ECHOED_LENGTH ? { input: data } : {}
  return typeof data === 'object' && data !== null ? {} : { input: data }
}

/** Drops repeated mistakes: a schema and one of its branches may report the same. */
function firstOfEachKind(issues: readonly Issue[]): Issue[] {
  const kinds = new Map<string, Issue>()
  for (const issue of issues) {
    const kind = JSON.stringify([issue.type, issue.loc])
    if (!kinds.has(kind)) kinds.set(kind, issue)
  }
  return [...kinds.values()]
}

/** Cuts a list of mistakes to the most characters. One mistake stays at least: without any the value would count as valid. */
function short(issues: Issue[]): Issue[] {
  let length = 0
  const end = issues.findIndex((issue, index) => {
    length += JSON.stringify(issue).length
    return index > 0 && length > MOST_CHARACTERS
  })
  return end < 0 ? issues : issues.slice(0, end)
}
