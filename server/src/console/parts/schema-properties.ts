/** The properties of a JSON schema as form fields: the kind and the label of each. */
import { type ConnectionType, isSecret, type JsonValue, secretNames } from '@claimcheck/core'
import type { TSchema } from 'typebox'

/** What a form uses of the schema of a property. */
export interface Property {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly JsonValue[]
  readonly const?: JsonValue
  readonly anyOf?: readonly Property[]
  readonly items?: Property
  readonly minLength?: number
  readonly pattern?: string
}

export type Kind = 'text' | 'secret' | 'integer' | 'number' | 'boolean' | 'choice' | 'lines' | 'json'

const PLAIN_KINDS: Readonly<Record<string, Kind>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
}

export function kindOf(property: Property): Kind {
  if (isSecret(property)) return 'secret'
  if (choicesOf(property)) return 'choice'
  if (property.type === 'array' && property.items?.type === 'string') return 'lines'
  return PLAIN_KINDS[property.type ?? ''] ?? 'json'
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

/** The schema for replacing secrets: the only one is required, of several each is optional. */
export function secretsIn({ options }: Pick<ConnectionType, 'options'>): TSchema {
  const names = secretNames({ options })
  const properties = Object.fromEntries(names.map((name) => [name, options.properties[name]]))
  return { ...options, properties, required: names.length === 1 ? names : [] }
}

export function isRequired(schema: TSchema, key: string): boolean {
  return (schema as { required?: readonly string[] }).required?.includes(key) === true
}

/** @param schema undefined where the plugin is not loaded */
export function propertyLabel(schema: TSchema | undefined, key: string): string {
  const [, property] = (schema ? propertiesOf(schema) : []).find(([name]) => name === key) ?? []
  return labelOf(property, key)
}

export function labelOf(property: Property | undefined, key: string): string {
  return property?.title ?? humanized(key)
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(['api', 'http', 'https', 'id', 'sha', 'url'])

/** `base_url` as "Base URL". */
function humanized(key: string): string {
  const words = key.split(/[_-]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase())
  const text = words.map((word) => (ABBREVIATIONS.has(word) ? word.toUpperCase() : word)).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A value as text, in a form and on a page. */
export function written(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
