/**
 * Counts the host's work for the processes of a plugin, so that one that floods it is ended before others notice. All processes count together: each
 * of many could stay just below a limit.
 */
import type { Readable } from 'node:stream'

const WINDOW_MS = 1000
/** The most messages in a window. A busy plugin sends some five messages a check, and the host may give it ten thousand checks a second. */
const MOST_MESSAGES = 30_000
const MESSAGES_OF_RUN = 10
const MOST_BYTES = 64 * 1024 * 1024
/** The most printed bytes in a window. They are read for a process' last words only. */
const MOST_PRINTED_BYTES = 4 * 1024 * 1024
/** The most processor time of the host for reading a plugin's messages in a window; each run that is under way adds to it. */
const MOST_BUSY_MS = 150
const BUSY_MS_OF_RUN = 5

interface WatchedProcess {
  /** Counts the calls that the process works on. */
  readonly runs: () => number
  readonly onFlood: () => void
}

/** The watch over the processes of one plugin. */
export type Floods = ReturnType<typeof createFloods>

/** Counts in one window. */
interface Counts {
  messages: number
  bytes: number
  printed: number
  busyMs: number
  /** The number of calls for which the work in the window was done. */
  runs: number
}

type Limit = (counts: Counts) => number

/** Limits on what goes beyond the needs of the calls. */
const LIMITS: readonly (readonly [excess: Limit, most: number])[] = [
  [({ messages, runs }) => messages - MESSAGES_OF_RUN * runs, MOST_MESSAGES],
  [({ busyMs, runs }) => busyMs - BUSY_MS_OF_RUN * runs, MOST_BUSY_MS],
  [({ bytes }) => bytes, MOST_BYTES],
  [({ printed }) => printed, MOST_PRINTED_BYTES],
]

export function createFloods() {
  const processes = new Map<WatchedProcess, Counts>()
  const together = nothing(0)
  // The monotonic clock times windows: the system's time may be set.
  let from = performance.now()

  function begin(): void {
    if (performance.now() - from < WINDOW_MS) return
    from = performance.now()
    Object.assign(together, nothing(0))
    for (const [{ runs }, counts] of processes) {
      Object.assign(counts, nothing(runs()))
      together.runs += counts.runs
    }
  }

  /** Ends the process that did the most beyond what its calls need. */
  function check(): void {
    const exceeded = LIMITS.find(([excess, most]) => excess(together) > most)
    if (!exceeded) return
    const [excess] = exceeded
    const [worst] = [...processes].reduce((one, other) => (excess(other[1]) > excess(one[1]) ? other : one))
    worst.onFlood()
  }

  /** Watches one more process. */
  return (watched: WatchedProcess) => {
    const counts = nothing(0)
    let before: NodeJS.CpuUsage | undefined
    const count = (name: keyof Counts, amount: number) => {
      // Late output of a process that ended counts against no other.
      if (!processes.has(watched)) return
      counts[name] += amount
      together[name] += amount
    }
    processes.set(watched, counts)
    return {
      /** Counts the bytes of the stream of messages. Call it before anything else reads the stream. */
      watch: (stream: Readable) =>
        stream.on('data', (chunk: Buffer) => {
          begin()
          count('bytes', chunk.length)
          before = process.cpuUsage()
          check()
        }),
      /** Counts the work of all readers of the messages. Call it after they are set up. */
      watchWork: (stream: Readable) =>
        stream.on('data', () => {
          // Work counts in processor time, because on a busy machine the host waits, too.
          const { user, system } = process.cpuUsage(before)
          count('busyMs', (user + system) / 1000)
          check()
        }),
      watchPrinted: (stream: Readable) =>
        stream.on('data', (chunk: Buffer) => {
          begin()
          count('printed', chunk.length)
          check()
        }),
      message() {
        count('messages', 1)
        check()
      },
      /** Counts a call of the plugin that begins. */
      run: () => count('runs', 1),
      /** Forgets a process that ended. */
      end() {
        processes.delete(watched)
        for (const name of Object.keys(counts) as (keyof Counts)[]) together[name] -= counts[name]
      },
    }
  }
}

function nothing(runs: number): Counts {
  return { messages: 0, bytes: 0, printed: 0, busyMs: 0, runs }
}
