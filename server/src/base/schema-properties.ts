/** The properties of a JSON schema, as forms and documentation show them. */
import type { JsonValue } from '@claimcheck/core/rules'
import type { TSchema } from 'typebox'

/** The parts of a property's schema that forms and documentation use. */
export interface Property {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly default?: JsonValue
  readonly examples?: readonly JsonValue[]
  readonly enum?: readonly JsonValue[]
  readonly const?: JsonValue
  readonly anyOf?: readonly Property[]
  readonly items?: Property
  readonly properties?: Readonly<Record<string, Property>>
  readonly required?: readonly string[]
  readonly format?: string
  readonly minLength?: number
  readonly pattern?: string
}

export function choicesOf({ enum: values, const: value, anyOf }: Property): readonly JsonValue[] | undefined {
  if (values) return values
  if (value !== undefined) return [value]
  const only = anyOf?.map((option) => option.const)
  return only?.every((option) => option !== undefined) ? only : undefined
}

export function propertiesOf(schema: TSchema): [string, Property][] {
  return Object.entries((schema as { properties?: Record<string, Property> }).properties ?? {})
}

export function isRequired(schema: TSchema, key: string): boolean {
  return (schema as { required?: readonly string[] }).required?.includes(key) === true
}

/**
 * Finds the label of a property.
 * @param schema undefined where the plugin is not loaded
 */
export function propertyLabel(schema: TSchema | undefined, key: string): string {
  const [, property] = (schema ? propertiesOf(schema) : []).find(([name]) => name === key) ?? []
  return labelOf(property, key)
}

export function labelOf(property: Property | undefined, key: string): string {
  return property?.title ?? humanized(key)
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(['api', 'http', 'https', 'id', 'sha', 'url'])

/** Turns a property's name into a label: `base_url` becomes "Base URL". */
function humanized(key: string): string {
  const words = key.split(/[_-]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase())
  const text = words.map((word) => (ABBREVIATIONS.has(word) ? word.toUpperCase() : word)).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Writes a property's value as text, for forms and pages. */
export function written(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
