/** One running process of a plugin. The host ends it when it loops, floods the host or leaves unread what it is sent. */
import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import type { Floods } from './flood.ts'
import { createFrames } from './frames.ts'
import { type FromPlugin, readFromPlugin } from './messages.ts'
import { memoryMib, type ProcessTimes, processTimes, treeTime } from './process-usage.ts'
import type { ProcessorBudget } from './processor-budget.ts'

export type EndReason =
  | 'it exited'
  | 'it looped'
  | 'it flooded the host'
  | 'it did not start'
  | 'it changed'
  | 'it took too much memory'
  | 'it took too much processor time'

/** A message of the process that concerns its calls. */
export type CallMessage = Exclude<FromPlugin, { readonly k: 'pong' }>

export type LiveProcess = ReturnType<typeof createLiveProcess>

const PING_MS = 250
/**
 * The number of looks of which one counts the whole tree of a process, which reads files of each of its threads. An idle process gets these looks
 * alone.
 */
const LOOKS_PER_COUNT = 4
/**
 * Limits of the time between a ping and its answer: with a processor, and in all. Time in which other programs have the processors, or in
 * which the host itself stands still, does not count.
 */
const RUNNING = { busyMs: 750, silentMs: 15_000 }
/** Limits of the time until the process is ready. */
const STARTING = { busyMs: 10_000, silentMs: 30_000 }
const MAX_LAST_WORDS = 8192

/**
 * Starts a process, and watches it.
 * @throws the error of `launch`
 */
export function createLiveProcess({
  launch,
  maxBytes,
  runs,
  floods,
  processor,
  onMessage,
  onEnd,
}: {
  readonly launch: () => ChildProcess
  /** The size of the largest message that the process may send. */
  readonly maxBytes: number
  /** Counts the calls that the process works on. */
  readonly runs: () => number
  /** The counts of floods that it shares with the other processes of the plugin. */
  readonly floods: Floods
  /** The budget of processor time that the process spends from once it is ready. */
  readonly processor: ProcessorBudget
  readonly onMessage: (message: CallMessage) => void
  /**
   * Receives the end of the process.
   * @param lastWords what it printed as it died
   */
  readonly onEnd: (reason: EndReason, lastWords: string) => void
}) {
  const child = launch()
  const stream = child.stdio[3] as Duplex
  let hasEnded = false
  let lastWords = ''
  let looks = 0
  let lookedAt = performance.now()
  let times: ProcessTimes = { processor: 0, waiting: 0 }
  let startingMs = 0
  let countedMs: number | undefined
  /** The unanswered ping, if any: the process' processor time when it was sent, and the time since in which it could have answered. */
  let ping: { readonly processorMs: number; openMs: number } | undefined

  const flood = floods({ runs, onFlood: () => end('it flooded the host') })
  flood.watch(stream)
  const frames = createFrames(stream, {
    maxBytes,
    onMessage(received) {
      if (hasEnded) return
      flood.message()
      const message = readFromPlugin(received)
      if (!message) end('it flooded the host')
      else if (message.k === 'pong') ping = undefined
      else onMessage(message)
    },
    onClose: (problem) => end(problem === 'closed' ? 'it exited' : 'it flooded the host'),
  })
  flood.watchWork(stream)
  const backlog = createBacklog(stream)
  const watcher = setInterval(watch, PING_MS).unref()
  child.on('error', () => end('it did not start'))
  child.on('close', () => end('it exited'))
  flood.watchPrinted(child.stdout!)
  flood.watchPrinted(child.stderr!)
  // A full pipe would block the process.
  child.stderr!.on('data', (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(0, MAX_LAST_WORDS)
  })

  /** Ends the process where it breaks a limit; else sends a ping that shows whether it still works. */
  function watch(): void {
    const isCountDue = ++looks % LOOKS_PER_COUNT === 0
    if (live.isReady && !isCountDue && runs() === 0 && !ping) return
    const passedMs = look()
    if (!live.isReady) startingMs += passedMs
    if (ping) ping.openMs += passedMs
    const reason = live.isReady ? breach(isCountDue) : startBreach()
    if (reason) end(reason)
    else if (!ping) {
      ping = { processorMs: times.processor, openMs: 0 }
      frames.send({ k: 'ping' })
    }
  }

  /**
   * Reads the times of the process.
   * @returns the time since the last look in which it could work
   */
  function look(): number {
    const now = performance.now()
    const seen = processTimes(child.pid!) ?? times
    // A host that stood still looks late, and has not read the answers of the process. A sandbox's first process is another one.
    const waitedMs = Math.max(seen.waiting - times.waiting, 0)
    const passedMs = Math.max(Math.min(now - lookedAt, 2 * PING_MS) - waitedMs, 0)
    times = seen
    lookedAt = now
    return passedMs
  }

  function startBreach(): EndReason | undefined {
    return times.processor >= STARTING.busyMs || startingMs >= STARTING.silentMs ? 'it did not start' : undefined
  }

  function breach(isCountDue: boolean): EndReason | undefined {
    if (isCountDue) {
      const totalMs = treeTime(child.pid!)
      const spentMs = Math.max(totalMs - (countedMs ?? totalMs), 0)
      countedMs = totalMs
      if (!processor.spend(spentMs, runs())) return 'it took too much processor time'
    }
    const isBusy = ping && times.processor - ping.processorMs >= RUNNING.busyMs
    const isSilent = ping && ping.openMs >= RUNNING.silentMs
    // A process that answers pings and reads nothing else is stuck, too.
    return isBusy || isSilent || backlog.waitingMs() >= RUNNING.silentMs ? 'it looped' : undefined
  }

  function end(reason: EndReason): void {
    if (hasEnded) return
    hasEnded = true
    flood.end()
    clearInterval(watcher)
    child.kill('SIGKILL')
    stream.destroy()
    onEnd(reason, lastWords.trim())
  }

  const live = {
    /** True once the process is set up, and takes calls. */
    isReady: false,
    send: (message: object, body?: Uint8Array) => frames.send(message, body),
    /**
     * Sends a large body once the process has read earlier ones, so that the host's memory holds few.
     * @param isWanted tells then whether it is still to be sent
     */
    async sendInTurn(message: object, body: Uint8Array, isWanted: () => boolean): Promise<void> {
      await backlog.inTurn(() => {
        if (!isWanted()) return
        frames.send(message, body)
        frames.flush()
      })
    },
    /** Counts a call of the plugin that begins. */
    begins() {
      flood.run()
      processor.begins()
    },
    /** Measures the memory of the process that it shares with no other, in MiB. */
    memoryMib: () => memoryMib(child.pid!),
    end,
    /** Resolves when nothing of the process is left. */
    async gone(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      await new Promise((resolve) => child.once('close', resolve))
    },
  }
  return live
}

/** Orders large messages for a process, and tells for how long the process has read nothing. */
function createBacklog(stream: Duplex) {
  let last: Promise<void> = Promise.resolve()
  let waitsSince: number | undefined
  stream.on('drain', () => {
    waitsSince = undefined
  })
  const drained = () =>
    new Promise<void>((resolve) => {
      if (stream.writableNeedDrain) stream.once('drain', resolve)
      else resolve()
    })

  return {
    inTurn(send: () => void): Promise<void> {
      last = last.then(drained).then(send)
      return last
    },
    waitingMs(): number {
      if (!stream.writableNeedDrain) waitsSince = undefined
      else waitsSince ??= performance.now()
      return waitsSince === undefined ? 0 : performance.now() - waitsSince
    },
  }
}
