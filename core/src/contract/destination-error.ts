/** The error of a read that could not be made. */
import type { DestinationErrorCode } from '../evidence.ts'

/** The destination could not be read. It is never evidence for or against the agent. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError'
  readonly code: DestinationErrorCode
  /** How long the destination asks to wait. Milliseconds. */
  readonly retryAfterMs?: number
  /** The HTTP status of the answer, if there was an answer. */
  readonly status?: number

  constructor(
    code: DestinationErrorCode,
    options: { readonly retryAfterMs?: number; readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(`could not read the destination: ${code}`, { cause: options.cause })
    this.code = code
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.status !== undefined) this.status = options.status
  }
}

/** Compares the name, because a plugin and its host can have different copies of core. */
export function isDestinationError(error: unknown): error is DestinationError {
  return error instanceof Error && error.name === 'DestinationError'
}
