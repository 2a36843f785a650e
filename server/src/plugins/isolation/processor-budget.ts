/**
 * Limits what the process of a plugin may take of the processors, over its restarts: much while it works on calls, and a little while nothing was
 * asked of it. The attack: a plugin that mines coins between its checks, in turns that are short enough for it to answer.
 */

/** While it has no call. */
const IDLE_SHARE = 0.05
/** The most that a process without calls may have left: to collect garbage, and to forget what it cached. */
const MOST_MS = 2000
/** The allowance that each call adds. To read all that a check may takes about a second. */
const CALL_MS = 3000
/** A process is not started again with less left. */
const START_MS = 500

export type ProcessorBudget = ReturnType<typeof createProcessorBudget>

export function createProcessorBudget(now: () => number = () => performance.now()) {
  let left = MOST_MS
  let at = now()

  function refill(): void {
    const current = now()
    left += (current - at) * IDLE_SHARE
    at = current
  }

  return {
    /** Adds what a call may take that begins. */
    begins() {
      left += CALL_MS
    },
    /** @param calls that it works on @returns false when it took more than it may */
    spend(ms: number, calls: number): boolean {
      refill()
      left = Math.min(left, MOST_MS + calls * CALL_MS) - ms
      return left >= 0
    },
    /** Says how long it waits before it is started again. Milliseconds. */
    pauseMs(): number {
      refill()
      return left >= 0 ? 0 : (START_MS - left) / IDLE_SHARE
    },
  }
}
