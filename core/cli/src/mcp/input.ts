/** Reads what models send beside the schema where the schema leaves one meaning: an object as JSON text, null for what is left out, "5" for 5. */
import { JsonError, parseStrictJson } from '@claimcheck/core/receipts'

interface Schema {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
}

/** Reads a value as a schema has it, and leaves what fits no schema as it was: validation refuses it then. */
export function readAs(schema: Schema, value: unknown): unknown {
  if (typeof value === 'string') return ofText(schema, value)
  if (Array.isArray(value) && isSchema(schema.items)) {
    const { items } = schema
    return value.map((one) => readAs(items, one))
  }
  const { properties = {}, required = [] } = schema
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (own === undefined) return [[name, member]]
      if (member === null && !required.includes(name) && !takesNull(own)) return []
      return [[name, readAs(own, member)]]
    }),
  )
}

function takesNull(schema: Schema): boolean {
  if (schema.type !== undefined) return [schema.type].flat().includes('null')
  if (schema.enum) return schema.enum.includes(null)
  if (schema.const !== undefined) return schema.const === null
  return schema.anyOf?.some(takesNull) ?? true
}

function ofText(schema: Schema, text: string): unknown {
  switch (schema.type) {
    case 'integer':
    case 'number':
      // Refuses a text that stands for another number than it says.
      return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text
    case 'object':
    case 'array': {
      const found = parsed(text)
      const fits = schema.type === 'array' ? Array.isArray(found) : isObject(found)
      return fits ? readAs(schema, found) : text
    }
    default:
      return text
  }
}

function parsed(text: string): unknown {
  try {
    return parseStrictJson(text).value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSchema(value: unknown): value is Schema {
  return isObject(value)
}
