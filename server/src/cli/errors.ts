/** Errors as a person at a terminal needs them: what is wrong, each on a line of its own, and no stack. */
import { ServiceError } from '../base/errors.ts'

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

interface SystemError extends Error {
  readonly code: string
  readonly address?: string
  readonly port?: number
}

const SYSTEM_ERRORS: Readonly<Record<string, (error: SystemError) => string>> = {
  EADDRINUSE: ({ address, port }) => `${address}:${port} is in use: stop what listens there, or set PORT to another`,
  EADDRNOTAVAIL: ({ address }) => `this machine has no address ${address}: set HOST to one that it has`,
  EACCES: ({ message }) => `not allowed: ${message}`,
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && (error as SystemError).code in SYSTEM_ERRORS
}

export function explain(error: unknown): string {
  if (error instanceof ServiceError && error.issues.length > 0) {
    return [error.message, ...error.issues.map((issue) => `  ${issue.loc.join('.')}: ${issue.msg}`)].join('\n')
  }
  if (error instanceof Error && FOR_PEOPLE.has(error.name)) return error.message
  if (isSystemError(error)) return SYSTEM_ERRORS[error.code]!(error)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
