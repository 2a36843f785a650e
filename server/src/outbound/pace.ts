/** Bounds how fast answers are passed to one plugin, by the processor time that they take of the thread that serves everybody. */
import type { Pace } from '@claimcheck/core/hosting'

/** A MiB takes the thread some milliseconds: a plugin that reads without end leaves most of it to others. */
const BYTES_PER_MS = (24 * 1024 * 1024) / 1000
/** The burst that passes at once: what most checks read in all. */
const BURST_MS = 1000

/** A leaky bucket: what it gives is spread over time, in the order in which it was asked for. */
export function createPace(): Pace {
  /** The time at which all that was passed on would have come at that pace. */
  let dueAt = 0

  return (bytes) => {
    const now = performance.now()
    dueAt = Math.max(dueAt, now - BURST_MS) + bytes / BYTES_PER_MS
    return dueAt <= now ? undefined : new Promise((resolve) => setTimeout(resolve, dueAt - now))
  }
}
