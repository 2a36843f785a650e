/** Errors as a person at a terminal needs them: what is wrong, each on a line of its own, and no stack. */
import { ServiceError } from '../services/errors.ts'

/** The classes whose messages are written for people. */
const FOR_PEOPLE = new Set([
  'ConfigError',
  'PluginError',
  'StorageError',
  'ServiceError',
  'SigningError',
  'SecretError',
  'UsageError',
])

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function explain(error: unknown): string {
  if (error instanceof ServiceError && error.issues.length > 0) {
    return [error.message, ...error.issues.map((issue) => `  ${issue.loc.join('.')}: ${issue.msg}`)].join('\n')
  }
  if (error instanceof Error && FOR_PEOPLE.has(error.name)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
