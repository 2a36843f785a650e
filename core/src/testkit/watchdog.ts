/** Ends the process when the plugin holds the processor, and says in which check: nothing else could report it. */
import { url as inspectorUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'

/** The check that the kit is making. */
export interface KitActivity {
  /** The name of the kit's check. */
  readonly check: string
  readonly case?: string | undefined
  readonly route?: string | undefined
}

/** Time without a turn of the main thread, and the processor time that the process uses in it, after which the process ends. */
const LONGEST_MS = 10_000
const LEAST_PROCESSOR_MS = 8000
/** Time after which a thread that is blocked without using the processor ends the process, too. */
const LONGEST_BLOCKED_MS = 60_000
const TICK_MS = 250

/** Places in the memory that both threads see: how often the main thread has had its turn, how long the text is, and the text. */
const BEATS = 0
const LENGTH = 1
const HEAD_BYTES = 8
const MOST_BYTES = 1024

/**
 * Program of the watching thread. It counts ticks and not time, so that a machine that slept ends nothing, and processor time, so that a busy
 * machine ends nothing either. The process gets a signal that needs none of its help.
 */
const WATCH = `
const { workerData: { shared, most, mostBlocked, leastProcessorMs, tickMs } } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const numbers = new Int32Array(shared, 0, 2)
let [missed, last, since] = [0, 0, process.cpuUsage()]
setInterval(() => {
  const beats = Atomics.load(numbers, ${BEATS})
  if (beats !== last) [missed, since] = [-1, process.cpuUsage()]
  missed++
  last = beats
  if (missed < most || numbers[${LENGTH}] === 0) return
  const { user, system } = process.cpuUsage(since)
  if ((user + system) / 1000 < leastProcessorMs && missed < mostBlocked) return
  const text = Buffer.from(shared, ${HEAD_BYTES}, numbers[${LENGTH}]).toString()
  writeSync(2, 'The plugin holds the processor, since the kit was at the check ' + text + '. The process ends.\\n')
  process.kill(process.pid, 'SIGKILL')
}, tickMs)
`

interface RunningWatch {
  readonly worker: Worker
  readonly beat: NodeJS.Timeout
  readonly numbers: Int32Array
  readonly text: Buffer
  doing: KitActivity | undefined
}

let running: RunningWatch | undefined
let users = 0

/** Watches until the returned function is called. Does nothing where a debugger may hold the process on purpose. */
export function startWatchdog(): () => Promise<void> {
  users++
  running ??= inspectorUrl() === undefined ? start() : undefined
  return async () => {
    if (--users > 0 || !running) return
    const { worker, beat } = running
    running = undefined
    clearInterval(beat)
    await worker.terminate()
  }
}

function start(): RunningWatch | undefined {
  const shared = new SharedArrayBuffer(HEAD_BYTES + MOST_BYTES)
  const numbers = new Int32Array(shared, 0, 2)
  const workerData = {
    shared,
    most: LONGEST_MS / TICK_MS,
    mostBlocked: LONGEST_BLOCKED_MS / TICK_MS,
    leastProcessorMs: LEAST_PROCESSOR_MS,
    tickMs: TICK_MS,
  }
  try {
    const worker = new Worker(WATCH, { eval: true, workerData, execArgv: [], env: {} })
    // A process without threads, such as one under permissions, has no watchdog.
    worker.on('error', () => {}).unref()
    const beat = setInterval(() => Atomics.add(numbers, BEATS, 1), TICK_MS).unref()
    return { worker, beat, numbers, text: Buffer.from(shared, HEAD_BYTES), doing: undefined }
  } catch {
    return undefined
  }
}

/** Notes that code of the plugin runs now, or goes on, and for which check. */
export function noteActivity(doing: KitActivity): void {
  if (!running || running.doing === doing) return
  running.doing = doing
  const { check, case: of, route } = doing
  const place = [check, ...(of === undefined ? [] : [`case "${of}"`]), ...(route === undefined ? [] : [route])]
  running.numbers[LENGTH] = running.text.write(place.join(', '))
}
