/** The errors of a read that failed, and of a plugin that asked for what it may not. */
import { DestinationError } from '../contract/destination-error.ts'
import type { DestinationErrorCode } from '../evidence.ts'

/**
 * The error of a plugin that asked for what its manifest does not declare, or the contract does not allow. The check becomes a
 * `verifier_error`, even if the plugin catches this.
 */
export class BreachError extends TypeError {
  override readonly name = 'BreachError'
}

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
  if (error instanceof DestinationError) return error
  // fetch throws a TypeError whose cause is the actual error.
  const cause = (error as { cause?: unknown }).cause ?? error
  if (cause instanceof DestinationError) return cause
  const isTimeout = signal.aborted || TIMEOUTS.has((cause as { code?: unknown }).code)
  return new DestinationError(isTimeout ? 'timeout' : 'unavailable', { cause })
}

/** Waits for work until a signal ends the waiting. @throws DestinationError once the signal is aborted */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(toDestinationError(signal.reason, signal))
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

/** The code and the cause of an error, for authors and operators only: a workspace could look into the operator's network by it. */
export function failureWords(error: unknown): string {
  // A plugin can throw any value, also one without a message.
  const {
    code,
    cause,
    message = error,
  } = (error ?? {}) as { readonly [name in 'code' | 'cause' | 'message']?: unknown }
  // A scheme wraps the error of its exchange.
  const behind = cause instanceof DestinationError ? cause.cause : cause
  const reason = behind instanceof Error ? behind.message : ''
  return [String(code ?? message), reason].filter(Boolean).join(': ')
}
