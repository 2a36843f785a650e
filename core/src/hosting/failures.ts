/** The errors that say that a destination could not be read. */
import { DestinationError } from '../contract/destination-error.ts'
import type { DestinationErrorCode } from '../evidence.ts'

export function refusal(reason: string, code: DestinationErrorCode = 'unavailable'): DestinationError {
  const cause = Object.assign(new Error(`the request was not sent: ${reason}`), { code: NOT_SENT })
  return new DestinationError(code, { cause })
}

const NOT_SENT = 'NOT_SENT'

/** Failures before the first byte of a request. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set([
  NOT_SENT,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** False only where no byte of the request reached the destination. */
export function wasPerhapsSent(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return !BEFORE_SENDING.has(cause?.code)
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
