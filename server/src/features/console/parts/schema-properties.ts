/** The properties of a JSON schema as form fields: the kind of each, and those that are secret. */

import { isSecret, secretNames } from '@claimcheck/core/hosting'
import type { ConnectionType } from '@claimcheck/core/plugin'
import type { TSchema } from 'typebox'
import { choicesOf, type Property } from '../../../base/schema-properties.ts'

export type Kind = 'text' | 'secret' | 'time' | 'integer' | 'number' | 'boolean' | 'choice' | 'lines' | 'json'

const PLAIN_KINDS: Readonly<Record<string, Kind>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
}

export function kindOf(property: Property): Kind {
  if (isSecret(property)) return 'secret'
  if (choicesOf(property)) return 'choice'
  if (property.type === 'string' && property.format === 'date-time') return 'time'
  if (property.type === 'array' && property.items?.type === 'string') return 'lines'
  return PLAIN_KINDS[property.type ?? ''] ?? 'json'
}

/** Makes the schema of a form that replaces secrets: a single one is required, of several each is optional. */
export function secretsIn({ options }: Pick<ConnectionType, 'options'>): TSchema {
  const names = secretNames({ options })
  const properties = Object.fromEntries(names.map((name) => [name, options.properties[name]]))
  return { ...options, properties, required: names.length === 1 ? names : [] }
}
