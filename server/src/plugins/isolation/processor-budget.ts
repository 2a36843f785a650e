/**
 * What the process of a plugin may take of the processors, over its restarts: much while it works on calls, and a little while nothing was
 * asked of it. The attack: a plugin that mines coins between its checks, in turns that are short enough for it to answer.
 */

/** While it has no call. */
const IDLE_SHARE = 0.05
/** What it may have at most when it has no call: to collect garbage, and to forget what it cached. */
const MOST_MS = 2000
/** What each call adds: to read all that a check may takes about a second. */
const CALL_MS = 3000
/** With less left it is not started again. */
const START_MS = 500

export interface ProcessorBudget {
  /** A call begins. */
  begins(): void
  /** @param calls that it works on @returns false when it took more than it may */
  spend(ms: number, calls: number): boolean
  /** How long it waits before it is started again. Milliseconds. */
  pauseMs(): number
}

export function createProcessorBudget(now: () => number = () => performance.now()): ProcessorBudget {
  let left = MOST_MS
  let at = now()

  function refill(): void {
    const current = now()
    left += (current - at) * IDLE_SHARE
    at = current
  }

  return {
    begins() {
      left += CALL_MS
    },
    spend(ms, calls) {
      refill()
      left = Math.min(left, MOST_MS + calls * CALL_MS) - ms
      return left >= 0
    },
    pauseMs() {
      refill()
      return left >= 0 ? 0 : (START_MS - left) / IDLE_SHARE
    },
  }
}
