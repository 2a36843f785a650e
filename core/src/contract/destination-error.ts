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
  /** The code of the error that a JSON-RPC method answered with. */
  readonly rpcCode?: number

  constructor(
    code: DestinationErrorCode,
    options: Partial<Pick<DestinationError, 'retryAfterMs' | 'status' | 'param' | 'rpcCode'>> & {
      readonly cause?: unknown
    } = {},
  ) {
    super(`could not read the destination: ${code}`, { cause: options.cause })
    this.code = code
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.status !== undefined) this.status = options.status
    if (options.param !== undefined) this.param = options.param
    if (options.rpcCode !== undefined) this.rpcCode = options.rpcCode
  }
}

/** Recognizes the error by its name, because a plugin and its host can have different copies of core. */
export function isDestinationError(error: unknown): error is DestinationError {
  return error instanceof Error && error.name === 'DestinationError'
}
