/** Counts what a process of a plugin makes the host do, so that one that floods it is ended before others notice. */
import type { Readable } from 'node:stream'

const WINDOW_MS = 1000
/** Messages and bytes a window. A busy plugin sends some five messages a check, and the host may give it ten thousand checks a second. */
const MOST_MESSAGES = 30_000
const MESSAGES_OF_RUN = 10
const MOST_BYTES = 64 * 1024 * 1024
/** What it prints is read for its last words only. */
const MOST_PRINTED_BYTES = 4 * 1024 * 1024
/** Processor time of the host for reading its messages, in a window: so much, and more for each run that is under way. */
const MOST_BUSY_MS = 150
const BUSY_MS_OF_RUN = 5

export interface FloodOptions {
  /** How many calls the process works on. */
  readonly runs: () => number
  readonly onFlood: () => void
}

export interface Flood {
  /** Counts what comes over the stream that messages come on. Called before anything else reads it. */
  watch(stream: Readable): void
  /** Called after all that reads the messages. */
  watchWork(stream: Readable): void
  watchPrinted(stream: Readable): void
  message(): void
  /** A call of the plugin begins. */
  run(): void
}

export function createFlood({ runs, onFlood }: FloodOptions): Flood {
  // Not the clock's time, which may be set.
  let from = performance.now()
  let messages = 0
  let bytes = 0
  let printed = 0
  let busyMs = 0
  let begun = 0
  let before: NodeJS.CpuUsage | undefined

  function begin(): void {
    if (performance.now() - from < WINDOW_MS) return
    from = performance.now()
    messages = bytes = printed = busyMs = 0
    begun = runs()
  }

  function check(): void {
    const most = MOST_BUSY_MS + BUSY_MS_OF_RUN * begun
    const isTooMany = messages > MOST_MESSAGES + MESSAGES_OF_RUN * begun
    if (isTooMany || bytes > MOST_BYTES || printed > MOST_PRINTED_BYTES || busyMs > most) onFlood()
  }

  return {
    watch: (stream) =>
      stream.on('data', (chunk: Buffer) => {
        begin()
        bytes += chunk.length
        before = process.cpuUsage()
        check()
      }),
    watchWork: (stream) =>
      stream.on('data', () => {
        // Processor time: on a busy machine the host waits, too.
        const { user, system } = process.cpuUsage(before)
        busyMs += (user + system) / 1000
        check()
      }),
    watchPrinted: (stream) =>
      stream.on('data', (chunk: Buffer) => {
        begin()
        printed += chunk.length
        check()
      }),
    message() {
      messages++
      check()
    },
    run() {
      begun++
    },
  }
}
