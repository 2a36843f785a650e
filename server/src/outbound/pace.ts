/** Bounds how fast answers are passed to one plugin, by the processor time that they take of the thread that serves everybody. */
import type { Pace } from '@claimcheck/core/hosting'

/**
 * The bytes that a plugin may read in a millisecond. A MiB takes the thread some milliseconds: a plugin that reads without end leaves most of it to
 * others.
 */
const BYTES_PER_MS = (24 * 1024 * 1024) / 1000
/** The burst that passes at once, as long as most checks read in all. */
const BURST_MS = 1000

/** Makes a leaky bucket, which spreads bytes over time in the order in which they were asked for. */
export function createPace(): Pace {
  /** The time at which all bytes so far would have come at that pace. */
  let dueAt = 0

  return (bytes) => {
    const now = performance.now()
    dueAt = Math.max(dueAt, now - BURST_MS) + bytes / BYTES_PER_MS
    return dueAt <= now ? undefined : new Promise((resolve) => setTimeout(resolve, dueAt - now))
  }
}
