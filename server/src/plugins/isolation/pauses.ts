/** The growing pauses before a process that ended is started again. */

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000
/** Of one that does not start: each try takes a second of a processor. */
const LONGEST_UNSTARTED_MS = 60_000
/** After so long without an end, the pauses begin anew. */
const SOUND_MS = 60_000

export function createPauses() {
  let pauseMs = 0
  let lastAt = Number.NEGATIVE_INFINITY

  return {
    /** For a process that ended now. Milliseconds. @param hasRun it took calls */
    next(hasRun: boolean): number {
      if (performance.now() - lastAt - pauseMs > SOUND_MS) pauseMs = 0
      lastAt = performance.now()
      const wait = pauseMs
      pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), hasRun ? LONGEST_PAUSE_MS : LONGEST_UNSTARTED_MS)
      return wait
    },
  }
}
