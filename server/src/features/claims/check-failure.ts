/** Turns an error that a verifier threw into a failure: why it could not read, or its own fault, as a text for the log without secrets. */

import { type DestinationError, isDestinationError } from '@claimcheck/core/plugin'
import { DESTINATION_ERROR_CODES, type Failure, type Instant, LATEST_INSTANT } from '@claimcheck/core/rules'
import { terminalText } from '@claimcheck/core/words/terminal'
import { leakFinder } from '../../outbound/leaks.ts'

export interface ReadFailure {
  readonly failure: Failure
  /** A text for the log when the failure is the verifier's fault. */
  readonly problem?: string
}

const CODES: ReadonlySet<unknown> = new Set(DESTINATION_ERROR_CODES)
const MAX_PROBLEM = 4096
/** The length from which a text is left out: a part of it could begin within a secret. */
const TOO_LONG_TO_SEARCH = 64 * 1024

/** Reads a thrown value. Never throws, also when reading a member of it does. */
export function readFailure(error: unknown, secrets: readonly string[], now: Instant): ReadFailure {
  try {
    if (isDestinationError(error) && CODES.has(error.code)) return { failure: toFailure(error, now) }
    return { failure: { code: 'verifier_error' }, problem: withoutSecrets(error, secrets) }
  } catch {
    return { failure: { code: 'verifier_error' }, problem: 'what was thrown cannot be read' }
  }
}

/** Returns only the text of the error: its members may contain a whole request with its credentials. */
function withoutSecrets(error: unknown, secrets: readonly string[]): string {
  const text = error instanceof Error ? String(error.stack ?? error.message) : `a ${typeof error} was thrown`
  if (text.length > TOO_LONG_TO_SEARCH) return `an error with a text of ${text.length} characters`
  return terminalText(leakFinder(secrets).redact(text)).slice(0, MAX_PROBLEM)
}

function toFailure({ code, retryAfterMs, status }: DestinationError, now: Instant): Failure {
  return {
    code,
    // Fractions are rounded up, and no wait ends later than the latest timestamp.
    ...(typeof retryAfterMs === 'number' && retryAfterMs > 0
      ? { retryAt: Math.min(Math.ceil(now + retryAfterMs), LATEST_INSTANT) }
      : {}),
    // Evidence has no form for a status below 0.
    ...(Number.isSafeInteger(status) && status! >= 0 ? { status: status! } : {}),
  }
}
