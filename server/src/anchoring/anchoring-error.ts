/** What keeps an anchor from going on: the anchorer's errors as codes, whatever a plugin throws. */
import type { AnchorerError, AnchorerErrorCode } from '@claimcheck/core'
import type { AnchoringProblem } from '../storage/anchor-row.ts'

const LONGEST_RETRY_AFTER_MS = 15 * 60_000

export class AnchoringError extends Error {
  override readonly name = 'AnchoringError'
  readonly problem: AnchoringProblem
  /** At the least so long until it is tried again; never longer than a quarter of an hour, whatever a node asks for. */
  readonly retryAfterMs: number

  constructor(problem: AnchoringProblem, message: string, retryAfterMs = 0) {
    super(message)
    this.problem = problem
    this.retryAfterMs = Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
  }
}

export interface AskOptions {
  readonly signal: AbortSignal
  readonly limitMs: number
}

/** Asks the anchorer. @throws AnchoringError when it fails or takes too long; the signal's reason when that is aborted, at once */
export async function ask<T>(call: (signal: AbortSignal) => Promise<T>, { signal, limitMs }: AskOptions): Promise<T> {
  signal.throwIfAborted()
  const timeout = AbortSignal.timeout(limitMs)
  const limit = AbortSignal.any([signal, timeout])
  const expiry = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true })
  })
  try {
    // A call that goes on all the same is left behind.
    return await Promise.race([(async () => call(limit))(), expiry])
  } catch (error) {
    signal.throwIfAborted()
    if (timeout.aborted) throw new AnchoringError('rpc_unavailable', 'the anchorer took too long')
    throw anchoringErrorOf(error)
  }
}

function anchoringErrorOf(error: unknown): AnchoringError {
  if (!isAnchorerError(error)) return new AnchoringError('anchorer_error', `the anchorer failed ${placeOf(error)}`)
  const { code, message, retryAfterMs } = error
  return new AnchoringError(code, message, retryAfterMs)
}

/** Where in the code. What the error says of itself may hold the account's key. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return (
    stack
      .split('\n')
      .find((line) => /^\s+at /.test(line))
      ?.trim() ?? 'somewhere'
  )
}

/** By its name and code: a plugin may carry a copy of core of its own. */
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
