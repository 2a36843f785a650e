/**
 * Makes checks again alone when it cannot be told which of them ended their process. Nothing else runs beside a suspect: what ends the
 * process then is the suspect itself, and not what somebody submitted in the meantime.
 */
import { setTimeout } from 'node:timers/promises'

export interface Quarantine {
  /** Runs the work when it is its turn. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** What other checks wait for; undefined: there is no suspect. */
  passed(): Promise<void> | undefined
}

/** A suspect that ends the process later than this is not found, so that one that waits holds up nobody for long. */
const TURN_MS = 1000
/** So long other checks wait for all suspects together. */
const MOST_MS = 3000
const LOOK_MS = 20
/** A process that answers within this does not loop. */
const FRESH_MS = 600

/** @param lagMs for how long the process has not answered; infinite while it is started */
export function createQuarantine(lagMs: () => number): Quarantine {
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  let passing: Promise<void> | undefined

  /** Waits until it is done, or takes too long; longer only where the process is about to be ended. */
  async function over(isDone: () => boolean, ms: number): Promise<void> {
    let until = performance.now() + ms
    while (!isDone() && (performance.now() < until || lagMs() > FRESH_MS)) {
      await setTimeout(LOOK_MS, undefined, { ref: false })
      // The time begins when the process does.
      if (lagMs() === Number.POSITIVE_INFINITY) until = performance.now() + ms
    }
  }

  return {
    alone<T>(work: () => Promise<T>): Promise<T> {
      let isDone = false
      const end = () => {
        isDone = true
        waiting--
      }
      waiting++
      const mine = last.then(work)
      mine.then(end, end)
      last = last.then(() => over(() => isDone, TURN_MS))
      passing ??= over(() => waiting === 0, MOST_MS).then(() => {
        passing = undefined
      })
      return mine
    },
    passed: () => passing,
  }
}
