/** Calls the anchorer, and turns every error that it throws into an AnchoringError with a code. */
import type { AnchorerError, AnchorerErrorCode } from '@claimcheck/core/plugin'
import type { AnchoringProblem } from '../storage/anchor-row.ts'

const MAX_RETRY_AFTER_MS = 15 * 60_000

export class AnchoringError extends Error {
  override readonly name = 'AnchoringError'
  readonly problem: AnchoringProblem
  /** The minimum time before the next try; at most 15 minutes, even when a node asks for more. */
  readonly retryAfterMs: number

  constructor(problem: AnchoringProblem, message: string, retryAfterMs = 0) {
    super(message)
    this.problem = problem
    this.retryAfterMs = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
  }
}

export interface CallOptions {
  readonly signal: AbortSignal
  readonly limitMs: number
}

/**
 * Calls the anchorer with a time limit.
 * @throws AnchoringError when the call fails or takes too long; the signal's reason, at once, when it is aborted
 */
export async function callAnchorer<T>(
  call: (signal: AbortSignal) => Promise<T>,
  { signal, limitMs }: CallOptions,
): Promise<T> {
  signal.throwIfAborted()
  const timeout = AbortSignal.timeout(limitMs)
  const limit = AbortSignal.any([signal, timeout])
  const expiry = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true })
  })
  try {
    // A call that ignores its signal keeps running, but nothing waits for it.
    return await Promise.race([(async () => call(limit))(), expiry])
  } catch (error) {
    signal.throwIfAborted()
    if (timeout.aborted) throw new AnchoringError('rpc_unavailable', 'the anchorer did not answer in time')
    throw anchoringErrorOf(error)
  }
}

function anchoringErrorOf(error: unknown): AnchoringError {
  if (!isAnchorerError(error)) return new AnchoringError('anchorer_error', `the anchorer failed ${locationOf(error)}`)
  const { code, message, retryAfterMs } = error
  return new AnchoringError(code, message, retryAfterMs)
}

/** Finds the line of code that threw. The error's message is left out, because it may contain the account's private key. */
function locationOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return (
    stack
      .split('\n')
      .find((line) => /^\s+at /.test(line))
      ?.trim() ?? 'at an unknown place'
  )
}

/** Recognizes an anchorer's error by name and code, because instanceof fails for a plugin that has its own copy of core. */
function isAnchorerError(error: unknown): error is AnchorerError {
  return error instanceof Error && error.name === 'AnchorerError' && (error as AnchorerError).code in CODES
}

const CODES: Readonly<Record<AnchorerErrorCode, true>> = {
  rpc_unavailable: true,
  rate_limited: true,
  unexpected_response: true,
  wrong_chain: true,
  no_code: true,
  account_is_contract: true,
  not_eas: true,
  schema_differs: true,
  schema_pending: true,
  insufficient_balance: true,
  fee_ceiling: true,
  reverted: true,
  nonce_taken: true,
  nonce_gap: true,
  previous_missing: true,
}
