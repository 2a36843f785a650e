/** Holds the stand-in's answers against GitHub's published description of its API, where that is at hand. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { aside } from '../support/stalls.ts'

const FOLDER = process.env.CONFORMANCE_DIR ?? '../shared/conformance'
const FILE = join(FOLDER, 'github', 'openapi-readonly.json')

interface Description {
  readonly paths: Readonly<
    Record<string, { readonly get: { readonly responses: Readonly<Record<string, Documented>> } }>
  >
}

interface Documented {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

/** What is wrong with an answer; `undefined` when nothing is, or when it is not described. */
export type AnswerCheck = (template: string, status: number, body: unknown) => string | undefined

/** Whether answers are checked at all. */
export const isDescribed = existsSync(FILE)

let check: AnswerCheck | undefined

export function answerCheck(): AnswerCheck {
  check ??= isDescribed ? aside(describedAnswers) : unchecked()
  return check
}

/** Says so, once. */
function unchecked(): AnswerCheck {
  process.emitWarning(`The GitHub stand-in's answers are not checked: there is no ${FILE}`)
  return () => undefined
}

function describedAnswers(): AnswerCheck {
  const description = JSON.parse(readFileSync(FILE, 'utf8')) as Description
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const compiled = new Map<object, ValidateFunction>()

  const check: AnswerCheck = (template, status, body) => {
    const documented = description.paths[template]?.get.responses
    if (!documented) return undefined
    const answer = documented[String(status)]
    // Failures that any endpoint may give are not listed with each.
    if (!answer) return status === 200 ? `${template} has no ${status}` : undefined
    const schema = answer.content?.['application/json']?.schema
    if (!schema) return undefined
    const validate = compiled.get(schema) ?? ajv.compile(withNullAsType(schema) as object)
    compiled.set(schema, validate)
    return validate(body) ? undefined : `${template} ${status}: ${ajv.errorsText(validate.errors)}`
  }
  return (...answer) => aside(() => check(...answer))
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type. */
function withNullAsType(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullAsType)
  if (typeof schema !== 'object' || schema === null) return schema
  const { nullable, example: _, ...rest } = schema as Record<string, unknown>
  const converted = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, withNullAsType(value)]))
  // A property may be called `nullable`, too: then it is a schema, not a flag.
  return nullable === true ? { anyOf: [{ type: 'null' }, converted] } : converted
}
