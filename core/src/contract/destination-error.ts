/** The error of a read that could not be made. */
import type { DestinationErrorCode } from '../evidence.ts'

/** Tells that the destination could not be read. It is never evidence for or against the agent. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError'
  readonly code: DestinationErrorCode
  /** Milliseconds that the destination asks to wait. */
  readonly retryAfterMs?: number
  /** The HTTP status of the answer, if there was an answer. */
  readonly status?: number
  /** The param that cannot be read, with `unsupported_target`. If undefined, the target cannot be read. */
  readonly param?: string

  constructor(
    code: DestinationErrorCode,
    options: Partial<Pick<DestinationError, 'retryAfterMs' | 'status' | 'param'>> & { readonly cause?: unknown } = {},
  ) {
    super(`could not read the destination: ${code}`, { cause: options.cause })
    this.code = code
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.status !== undefined) this.status = options.status
    if (options.param !== undefined) this.param = options.param
  }
}

/** Recognizes the error by its name, because a plugin and its host can have different copies of core. */
export function isDestinationError(error: unknown): error is DestinationError {
  return error instanceof Error && error.name === 'DestinationError'
}
