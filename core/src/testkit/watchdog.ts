/** Ends the process when the plugin holds the processor, and says in which check: nothing else could report it. */
import { url as inspectorUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'

/** What the kit is at. */
export interface Doing {
  /** The name of the kit's check. */
  readonly check: string
  readonly case?: string | undefined
  readonly route?: string | undefined
}

const LONGEST_MS = 10_000
const TICK_MS = 250

/**
 * Runs in a thread of its own. It counts its own ticks and not time, so that a machine that slept ends nothing. The process gets a signal
 * that needs none of its help.
 */
const WATCH = `
const { parentPort, workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
let [missed, doing] = [0, undefined]
parentPort.on('message', (message) => {
  missed = 0
  if (message) doing = message
})
setInterval(() => {
  if (++missed < workerData.most || !doing) return
  const { check, case: of, route } = doing
  const place = [check, of === undefined ? undefined : 'case "' + of + '"', route].filter(Boolean).join(', ')
  writeSync(2, 'The plugin holds the processor, since the kit was at the check ' + place + '. The process ends.\\n')
  process.kill(process.pid, 'SIGKILL')
}, workerData.tickMs)
`

interface Running {
  readonly worker: Worker
  readonly beat: NodeJS.Timeout
  doing: Doing | undefined
}

let running: Running | undefined
let users = 0

/** Until the returned function is called. Not where a debugger may hold the process on purpose. */
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

function start(): Running | undefined {
  const workerData = { most: LONGEST_MS / TICK_MS, tickMs: TICK_MS }
  try {
    const worker = new Worker(WATCH, { eval: true, workerData, execArgv: [], env: {} })
    // A process without threads, such as one under permissions, has no watchdog.
    worker.on('error', () => {}).unref()
    return { worker, beat: setInterval(() => worker.postMessage(undefined), TICK_MS).unref(), doing: undefined }
  } catch {
    return undefined
  }
}

/** Code of the plugin runs now, or goes on. */
export function holds(doing: Doing): void {
  if (!running || running.doing === doing) return
  running.doing = doing
  running.worker.postMessage(doing)
}
