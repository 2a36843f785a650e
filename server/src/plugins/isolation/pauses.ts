/** The growing pauses before a process that ended is started again. */

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000
/** After so long without an end, the pauses begin anew. */
const SOUND_MS = 60_000

export function createPauses() {
  let pauseMs = 0
  let lastAt = Number.NEGATIVE_INFINITY

  return {
    /** For a process that ended now. Milliseconds. */
    next(): number {
      if (performance.now() - lastAt > SOUND_MS) pauseMs = 0
      lastAt = performance.now()
      const wait = pauseMs
      pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
      return wait
    },
  }
}
