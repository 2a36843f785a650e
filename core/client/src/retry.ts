/** Decides whether a request is sent again, and after which pause. */
import { ApiError, ConnectionError, TimeoutError } from './errors.ts'
import { startTimer } from './timer.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8000
/** Statuses after which the same request may succeed later. Sending it again does no harm: the service knows a claim by its `client_claim_id`. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/** The pause before the request is sent again; undefined if it is not sent again. */
export function pauseBefore(
  error: unknown,
  {
    tries,
    elapsedMs,
    limitMs,
    random,
  }: {
    /** The number of tries so far. */
    readonly tries: number
    /** The time since the first try. */
    readonly elapsedMs: number
    /** The time after which no request is sent again. */
    readonly limitMs: number
    /** A random number, at least 0 and less than 1. */
    readonly random: number
  },
): number | undefined {
  if (!isTemporary(error)) return undefined
  const growing = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS)
  // Pauses are partly random, so that clients that failed together do not come back together.
  const own = growing * (0.5 + random / 2)
  const pause = Math.max(own, (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 0)
  return elapsedMs + pause <= limitMs ? pause : undefined
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) return TEMPORARY.has(error.status)
  return error instanceof TimeoutError || error instanceof ConnectionError
}

/** Waits. @throws the signal's reason when it is aborted */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = startTimer(ms, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    signal?.addEventListener('abort', stop, { once: true })
  })
}
