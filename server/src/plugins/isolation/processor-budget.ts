/**
 * Limits what the process of a plugin may take of the processors, over its restarts: much while it works on calls, and a little while nothing was
 * asked of it. The attack: a plugin that mines coins between its checks, in turns that are short enough for it to answer.
 */

/** The share of a processor that a process may take while it has no call. */
const IDLE_SHARE = 0.05
/** The most processor time that a process without calls may save up: to collect garbage, and to clear its caches. */
const MOST_MS = 2000
/** The processor time that each call adds. To read the most bytes of a check takes about a second. */
const CALL_MS = 3000
/** The least budget with which a process is started again. */
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
    /** Adds the processor time for a call that begins. */
    begins() {
      left += CALL_MS
    },
    /**
     * Takes processor time from the budget.
     * @param calls the number of calls that the process works on
     * @returns false when it took more than it may
     */
    spend(ms: number, calls: number): boolean {
      refill()
      left = Math.min(left, MOST_MS + calls * CALL_MS) - ms
      return left >= 0
    },
    /** Returns the pause before the process is started again, in milliseconds. */
    pauseMs(): number {
      refill()
      return left >= 0 ? 0 : (START_MS - left) / IDLE_SHARE
    },
  }
}
