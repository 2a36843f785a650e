/** The schema and the audit words of all features together, whether they are active or left out. */
import type { AuditWords } from '../base/audit-events.ts'
import { type Schema, schemaOf } from '../storage/schema.ts'
import type { Feature } from './feature.ts'
import { HOST_STORED } from './tables.ts'

/**
 * Composes the schema of all features.
 * @throws Error when a table refers to one that no feature stores
 */
export function schemaOfFeatures(features: readonly Feature[]): Schema {
  return schemaOf([HOST_STORED, ...features.flatMap(({ stored }) => stored ?? [])])
}

export function auditWordsOf(features: readonly Feature[]): AuditWords {
  return Object.assign({}, ...features.map(({ auditWords }) => auditWords))
}
