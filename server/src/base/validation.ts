/** Validation against TypeBox schemas, and its findings in the wording that clients of FastAPI services know. */
import { MAX_BYTES } from '@claimcheck/core/api'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import type { Issue, Loc } from './errors.ts'
import { readTimestamp } from './timestamp.ts'
import { wording } from './validation-wording.ts'

/** Everything that is wrong with `value`, which stands at `loc`; empty when nothing is. Changes nothing, coerces nothing. */
export type Validator = (value: unknown, loc: Loc) => Issue[]

const LONGEST_SHOWN = 128

// Applied by branches whose own findings say what is wrong.
const SILENT_KEYWORDS: ReadonlySet<string> = new Set(['if', 'anyOf'])

const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: true, strictTypes: false, strictRequired: false })
addFormats.default(ajv)
// Times are UTC everywhere, also in the params of actions.
ajv.addFormat('date-time', (text) => typeof readTimestamp(text) === 'number')
ajv.addKeyword('x-secret')
ajv.addKeyword({
  keyword: MAX_BYTES,
  type: 'object',
  schemaType: 'number',
  validate: (most: number, value: object) => Buffer.byteLength(JSON.stringify(value)) <= most,
})

const compiled = new WeakMap<TSchema, Validator>()

/** Compiles each schema once. @throws Error for what is no JSON schema */
export function validator(schema: TSchema): Validator {
  const known = compiled.get(schema)
  if (known) return known
  const check = ajv.compile(schema)
  const validate: Validator = (value, loc) => {
    if (check(value)) return []
    const findings = check.errors!.filter(({ keyword }) => !SILENT_KEYWORDS.has(keyword))
    return firstOfEachKind(findings.map((error) => toIssue(error, value, loc)))
  }
  compiled.set(schema, validate)
  return validate
}

function toIssue(error: ErrorObject, value: unknown, loc: Loc): Issue {
  const place = [...loc, ...pathTo(error, value)]
  return { loc: place, ...wording(error, place), ...shownInput(error) }
}

/** The instance path as names and positions, ending with the member that is missing or too many. */
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
  const member: unknown = params.missingProperty ?? params.additionalProperty
  return typeof member === 'string' ? [...path, member] : path
}

/** Short plain values only, and none that may be a credential: a misspelt member's value may well be one. */
function shownInput({ keyword, data, parentSchema }: ErrorObject): Pick<Issue, 'input'> {
  if (keyword === 'required' || keyword === 'additionalProperties' || parentSchema?.['x-secret'] === true) return {}
  if (typeof data === 'string') return data.length <= LONGEST_SHOWN ? { input: data } : {}
  return typeof data === 'object' && data !== null ? {} : { input: data }
}

/** A schema and a branch of it may find the same. */
function firstOfEachKind(issues: readonly Issue[]): Issue[] {
  const kinds = new Map<string, Issue>()
  for (const issue of issues) {
    const kind = JSON.stringify([issue.type, issue.loc])
    if (!kinds.has(kind)) kinds.set(kind, issue)
  }
  return [...kinds.values()]
}
