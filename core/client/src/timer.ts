/** Runs timers of any length, also beyond the limit of the platform's. */

/** The longest time of a timer: beyond some 25 days, those of the platform end at once. */
const LONGEST_MS = 2 ** 31 - 1

export function startTimer(ms: number, end: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(end, Math.min(ms, LONGEST_MS))
}

/**
 * Makes a signal that aborts with another one, or with `late` after a time. AbortSignal.any is not used: in Node 20 a long-lived signal keeps every
 * signal that is made of it.
 */
export function limitedSignal(given: AbortSignal | undefined, ms: number, late: Error) {
  const controller = new AbortController()
  const abort = () => controller.abort(given?.reason)
  if (given?.aborted) abort()
  given?.addEventListener('abort', abort, { once: true })
  const start = () => startTimer(ms, () => controller.abort(late))
  let timer = start()
  return {
    signal: controller.signal,
    /** Begins the time anew. */
    restart() {
      clearTimeout(timer)
      timer = start()
    },
    end() {
      clearTimeout(timer)
      given?.removeEventListener('abort', abort)
    },
  }
}
