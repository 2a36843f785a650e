/** Holds a stand-in's answers against the host's published description of its API: OpenAPI 3.0 or Swagger 2.0. */
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { readPublished } from '../../../core/test/conformance.ts'
import { aside } from '../../support/stalls.ts'

/** What is wrong with an answer; `undefined` when nothing is, or when it is not described. */
export type AnswerCheck = (template: string, status: number, body: unknown) => string | undefined

export interface DescriptionOptions {
  /** Objects may have only the members that the description names: then a misspelled one is found. Not with `allOf`. */
  readonly isClosed?: boolean
  /** Members that must be there, by the name of the definition, where the description requires too few. */
  readonly required?: Readonly<Record<string, readonly string[]>>
}

type Json = Readonly<Record<string, unknown>>

export interface Description {
  readonly paths: Readonly<Record<string, { readonly get?: { readonly responses: Readonly<Record<string, Json>> } }>>
  /** Of Swagger 2.0; those of OpenAPI 3.0 are among `components`. */
  readonly definitions?: Readonly<Record<string, unknown>>
  readonly responses?: Readonly<Record<string, Json>>
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> }
}

/** Reads the description when the first answer is checked. @param file `github/openapi-readonly.json` */
export function answerCheck(file: string, options: DescriptionOptions = {}): AnswerCheck {
  let check: AnswerCheck | undefined
  return (...answer) =>
    aside(() => {
      check ??= checkAgainst(JSON.parse(readPublished(file)) as Description, options)
      return check(...answer)
    })
}

export function checkAgainst(description: Description, options: DescriptionOptions = {}): AnswerCheck {
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false, logger: false })
  addFormats.default(ajv)
  const { convert, shared } = createConverter(options)
  const named = (schemas: Readonly<Record<string, unknown>> = {}) =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, convert(schema, name)]))
  // Where the schemas' references lead.
  const definitions = named(description.definitions)
  const components = { schemas: named(description.components?.schemas) }
  // One schema for all answers, so that each part that they share is compiled once.
  ajv.addSchema({ $id: DESCRIPTION, definitions, components, shared })
  const validators = new Map<Json, ValidateFunction>()

  return (template, status, body) => {
    const responses = description.paths[template]?.get?.responses
    if (!responses) return undefined
    const documented = responses[String(status)]
    // Failures that any endpoint may give are not listed with each.
    if (!documented) return status === 200 ? `${template} has no ${status}` : undefined
    const answer = dereferenced(documented, description)
    const schema = schemaOf(answer)
    if (!schema) return undefined
    const compile = () => ajv.compile({ allOf: [convert(schema)] })
    const validate = validators.get(answer) ?? compile()
    validators.set(answer, validate)
    return validate(body) ? undefined : `${template} ${status}: ${ajv.errorsText(validate.errors)}`
  }
}

function dereferenced(answer: Json, description: Description): Json {
  const { $ref } = answer
  if (typeof $ref !== 'string') return answer
  const steps = $ref.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>(
    (at, step) => (at as Json)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    description,
  ) as Json
}

/** One of our own is the better one, where there is one. */
function schemaOf(answer: Json): unknown {
  const content = answer.content as Readonly<Record<string, Json>> | undefined
  return answer['x-ours-schema'] ?? content?.['application/json']?.schema ?? answer.schema
}

/** Members whose values are schemas by name, and not a schema. */
const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'definitions'])
/** Members whose values are data. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'required', 'default', 'example', 'examples'])
const DROPPED: ReadonlySet<string> = new Set(['example', 'description', 'nullable', 'x-nullable', 'discriminator'])

/** What the whole of a description is called in references to its parts. */
const DESCRIPTION = 'description'

/** Objects with so many members are worth a definition of their own. */
const SHARED_MEMBERS = 4

interface Converter {
  /** A schema as JSON Schema. @param name of the definition that it is */
  convert(schema: unknown, name?: string): unknown
  /** Descriptions repeat their schemas where they are used: each is compiled once, as one of these. */
  readonly shared: Readonly<Record<string, unknown>>
}

function createConverter({ isClosed = false, required = {} }: DescriptionOptions): Converter {
  const shared: Record<string, unknown> = {}
  const names = new Map<string, string>()

  function convert(schema: unknown, name?: string): unknown {
    if (Array.isArray(schema)) return schema.map((one) => convert(one))
    if (typeof schema !== 'object' || schema === null) return schema
    const entries = Object.entries(schema).flatMap(([key, value]) => {
      if (DROPPED.has(key)) return []
      if (DATA.has(key)) return [[key, value] as const]
      if (key === '$ref') return [[key, DESCRIPTION + value] as const]
      if (key === 'anyOf') return [[key, convert(telling(value as Json[]))] as const]
      return [[key, MAPS.has(key) ? convertEach(value as Json) : convert(value)] as const]
    })
    const whole: Record<string, unknown> = Object.fromEntries(entries)
    const more = name === undefined ? undefined : required[name]
    if (more) whole.required = [...new Set([...((whole.required as string[]) ?? []), ...more])]
    if (isClosed && whole.properties && !('additionalProperties' in whole) && !whole.allOf) {
      whole.additionalProperties = false
    }
    // OpenAPI 3.0 says `nullable` where JSON Schema has a type.
    const { nullable, 'x-nullable': alsoNullable } = schema as Json
    const isNullable = nullable === true || alsoNullable === true
    return isNullable ? { anyOf: [{ type: 'null' }, share(whole)] } : share(whole)
  }

  function convertEach(schemas: Json): Json {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, convert(schema)]))
  }

  function share(schema: Json): Json {
    if (Object.keys((schema.properties as Json | undefined) ?? {}).length < SHARED_MEMBERS) return schema
    const text = JSON.stringify(schema)
    const name = names.get(text) ?? `schema-${names.size}`
    names.set(text, name)
    shared[name] = schema
    return { $ref: `${DESCRIPTION}#/shared/${name}` }
  }

  return { convert, shared }
}

/** Beside others, an alternative that requires nothing lets everything pass. */
function telling(alternatives: readonly Json[]): readonly Json[] {
  const requiring = alternatives.filter((one) => one.type !== 'object' || one.required)
  return requiring.length > 0 ? requiring : alternatives
}
