/** Watches how long anything holds this thread: nothing that a client or a destination sends may hold it for long. */
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

export const LONGEST_STALL_MS = 50

export interface Stalls {
  /** The most processor time that passed between two turns of the event loop. A thread that waits for a processor is not held. Milliseconds. */
  longestMs(): number
  /** The longest delay of the event loop, whatever the reason. Milliseconds. */
  delayMs(): number
  /** Forgets what was. */
  reset(): void
  stop(): void
}

const EVERY_MS = 5
let asideMs = 0

/** What a stand-in does in this thread, which a real destination does elsewhere: it is nothing that holds the service up. */
export function aside<T>(work: () => T): T {
  const before = processorTime()
  try {
    return work()
  } finally {
    asideMs += processorTime() - before
  }
}

export function watchStalls(): Stalls {
  const delay = monitorEventLoopDelay({ resolution: EVERY_MS })
  delay.enable()
  let longest = 0
  let last = processorTime() - asideMs
  const look = () => {
    const now = processorTime() - asideMs
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(look, EVERY_MS)
  timer.unref()
  return {
    longestMs: () => {
      look()
      return longest
    },
    delayMs: () => delay.max / 1e6,
    reset() {
      last = processorTime() - asideMs
      longest = 0
      delay.reset()
    },
    stop() {
      clearInterval(timer)
      delay.disable()
    },
  }
}

/**
 * Measures up to three times, until a measurement is short: a collection of garbage may fall into one, but hardly into each of three.
 * @returns all of them; the last one counts
 */
export async function measureStalls<M extends { readonly longestMs: number }>(measure: () => Promise<M>): Promise<M[]> {
  const measured: M[] = []
  do measured.push(await measure())
  while (measured.at(-1)!.longestMs >= LONGEST_STALL_MS && measured.length < 3)
  return measured
}

/** Of this thread, in milliseconds. Linux tells it in nanoseconds; the first thread of the process has the process's number. */
function processorTime(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6
}
