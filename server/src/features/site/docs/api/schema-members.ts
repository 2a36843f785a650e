/** The members of a JSON schema of the API, as rows of a table: members of inner objects are named by the path to them. */

/** The members of a schema that a table shows. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

type Schemas = Readonly<Record<string, JsonSchema>>

export interface Member {
  /** The path to the member, such as `claims[].last_check.at`. */
  readonly name: string
  readonly isRequired: boolean
  readonly schema: JsonSchema
}

export function membersOf(schema: JsonSchema, schemas: Schemas, prefix = ''): Member[] {
  const { properties = {}, required = [] } = objectIn(schema, schemas) ?? {}
  return Object.entries(properties).flatMap(([key, member]) => {
    const name = `${prefix}${key}`
    const inner = itemsOf(member, schemas)
    const isRequired = required.includes(key)
    const below = inner ? membersOf(inner, schemas, `${name}[].`) : membersOf(member, schemas, `${name}.`)
    return [{ name, isRequired, schema: member }, ...below]
  })
}

/** Words the type of a schema: `text`, `integer or null`, `"queued" or "decided"`. */
export function typeOf(schema: JsonSchema, schemas: Schemas): string {
  const { type, format, enum: values, const: only, anyOf, items } = resolved(schema, schemas)
  if (anyOf) return [...new Set(anyOf.map((one) => typeOf(one, schemas)))].join(' or ')
  const choices = values ?? (only === undefined ? undefined : [only])
  if (choices) return choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(' or ')
  if (type === 'array') return items ? `list of ${typeOf(items, schemas)}` : 'list'
  if (format === 'date-time') return 'time'
  return type === 'string' ? 'text' : (type ?? 'any value')
}

function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  return schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1)!] ?? {})
}

/** Finds the object that the schema describes, also where it may be null instead. */
function objectIn(schema: JsonSchema, schemas: Schemas): JsonSchema | undefined {
  const own = resolved(schema, schemas)
  if (own.properties) return own
  return own.anyOf?.map((one) => objectIn(one, schemas)).find((found) => found !== undefined)
}

function itemsOf(schema: JsonSchema, schemas: Schemas): JsonSchema | undefined {
  const { items } = resolved(schema, schemas)
  return items && objectIn(items, schemas)
}
