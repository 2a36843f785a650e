/** What a service refuses, as closed codes; http/ turns them into answers, cli/ into messages. */
import type { Issue } from '../validation.ts'

export type ServiceErrorCode = 'invalid' | 'not_found' | 'bad_request' | 'conflict' | 'read_only' | 'unavailable'

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ServiceErrorCode
  /** With `invalid`: every place that is wrong. */
  readonly issues: readonly Issue[]

  constructor(code: ServiceErrorCode, detail: string, options: { issues?: readonly Issue[]; cause?: unknown } = {}) {
    super(detail, { cause: options.cause })
    this.code = code
    this.issues = options.issues ?? []
  }
}
