/** The errors that say that a destination could not be read. */
import { DestinationError } from '../contract/destination-error.ts'
import type { DestinationErrorCode } from '../evidence.ts'

export function refusal(reason: string, code: DestinationErrorCode = 'unavailable'): DestinationError {
  return new DestinationError(code, { cause: new Error(`the request was not sent: ${reason}`) })
}

const TIMEOUTS: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

export function toDestinationError(error: unknown, signal: AbortSignal): DestinationError {
  // fetch throws a TypeError whose cause is the actual error.
  const cause = (error as { cause?: unknown }).cause ?? error
  if (cause instanceof DestinationError) return cause
  const isTimeout = signal.aborted || TIMEOUTS.has((cause as { code?: unknown }).code)
  return new DestinationError(isTimeout ? 'timeout' : 'unavailable', { cause })
}

/** The code, and what is behind it: for authors and operators. A workspace could look into the operator's network by it. */
export function failureWords(error: unknown): string {
  // Plugins throw anything.
  const {
    code,
    cause,
    message = error,
  } = (error ?? {}) as { readonly [name in 'code' | 'cause' | 'message']?: unknown }
  // A scheme wraps what its exchange threw.
  const behind = cause instanceof DestinationError ? cause.cause : cause
  const reason = behind instanceof Error ? behind.message : ''
  return [String(code ?? message), reason].filter(Boolean).join(': ')
}
