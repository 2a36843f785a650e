/**
 * One running process of a plugin: what it was sent, what it says that it works on, and whether it still works. Ends it when it loops,
 * floods the host or leaves what it is sent unread.
 */
import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { type Backlog, createBacklog } from './backlog.ts'
import type { Floods } from './flood.ts'
import { createFrames } from './frames.ts'
import type { FromPlugin } from './messages.ts'
import { memoryMib } from './process-memory.ts'
import type { ProcessorBudget } from './processor-budget.ts'
import { type ProcessTimes, processTimes, treeTime } from './processor-time.ts'
import { readMessage } from './received.ts'

export type EndReason =
  | 'it exited'
  | 'it looped'
  | 'it flooded the host'
  | 'it did not start'
  | 'it changed'
  | 'it took too much memory'
  | 'it took too much processor time'

/** What a process says that concerns its calls. */
export type Said = Exclude<FromPlugin, { readonly k: 'at' | 'idle' }>

export interface LiveProcess {
  /** It is set up, and takes calls. */
  isReady: boolean
  /** The answers that wait for it. */
  readonly backlog: Backlog
  /** @param run the call that the message belongs to */
  send(run: number | undefined, message: object, body?: Uint8Array): void
  /** The same, before anything else is done: for what is large. */
  sendNow(run: number, message: object, body: Uint8Array): void
  /** A call of the plugin begins. */
  begins(): void
  /** For how long it has not answered what it was sent. Milliseconds. */
  lagMs(): number
  /** What it has in memory that no other process shares. MiB. */
  memoryMib(): number
  end(reason: EndReason): void
  /** Resolves when nothing of it is left. */
  gone(): Promise<void>
}

export interface LiveOptions {
  readonly launch: () => ChildProcess
  /** The size of its largest message. */
  readonly maxBytes: number
  /** How many calls it works on. */
  readonly runs: () => number
  /** With the other processes of the plugin. */
  readonly floods: Floods
  /** What it takes of the processors once it is ready counts against it. */
  readonly processor: ProcessorBudget
  readonly onSaid: (said: Said) => void
  /** @param blamed the run that it worked on @param lastWords what it printed as it died */
  readonly onEnd: (reason: EndReason, blamed: number | undefined, lastWords: string) => void
}

const PING_MS = 250
/** One look in so many counts the whole tree of a process, which reads files of each of its threads. An idle process gets these looks alone. */
const LOOKS_PER_COUNT = 4
/**
 * It is ended when one message keeps its processor busy for so long, or stays unanswered for so long in which it could have worked: while
 * other programs have the processors, or the host itself stands still, no time passes.
 */
const RUNNING = { busyMs: 750, silentMs: 15_000 }
/** The same, until it is ready. */
const STARTING = { busyMs: 10_000, silentMs: 30_000 }
const MAX_LAST_WORDS = 8192

/** @throws the error of `launch` */
export function createLiveProcess(options: LiveOptions): LiveProcess {
  const { launch, maxBytes, runs, floods, processor, onSaid, onEnd } = options
  const child = launch()
  const stream = child.stdio[3] as Duplex
  const work = createUndone(child)
  let hasEnded = false
  let startingMs = 0
  let looks = 0
  let countedMs: number | undefined

  const flood = floods({ runs, onFlood: () => end('it flooded the host') })
  flood.watch(stream)
  const frames = createFrames(stream, {
    maxBytes,
    onMessage(message) {
      if (hasEnded) return
      flood.message()
      const known = readMessage(message, work.sent())
      if (!known) end('it flooded the host')
      else if (known.k === 'at' || known.k === 'idle') work.reached(known)
      else onSaid(known)
    },
    onClose: (problem) => end(problem === 'closed' ? 'it exited' : 'it flooded the host'),
  })
  flood.watchWork(stream)
  const backlog = createBacklog(stream)
  const pinger = setInterval(watch, PING_MS)
  pinger.unref()
  child.on('error', () => end('it did not start'))
  child.on('close', () => end('it exited'))
  flood.watchPrinted(child.stdout!)
  flood.watchPrinted(child.stderr!)
  const lastWords = lastWordsOf(child)

  /** Ends it when the oldest message keeps it busy, and sends one that shows whether it still works. */
  function watch(): void {
    const isCountDue = ++looks % LOOKS_PER_COUNT === 0
    if (live.isReady && !isCountDue && runs() === 0 && work.isDone()) return
    const { processorMs, passedMs } = work.look()
    if (!live.isReady) startingMs += passedMs
    const startsTooLong = processorMs >= STARTING.busyMs || startingMs >= STARTING.silentMs
    // What waits unread counts whatever it says that it has worked on.
    const isStuck = backlog.waitingMs() >= RUNNING.silentMs || work.isStuck()
    if (!live.isReady && startsTooLong) end('it did not start')
    else if (live.isReady && isCountDue && !mayGoOn()) end('it took too much processor time')
    else if (live.isReady && isStuck) end('it looped')
    else if (!work.isPinged()) send(undefined, { k: 'ping' })
  }

  function mayGoOn(): boolean {
    const totalMs = treeTime(child.pid!)
    const spentMs = Math.max(totalMs - (countedMs ?? totalMs), 0)
    countedMs = totalMs
    return processor.spend(spentMs, runs())
  }

  function send(run: number | undefined, message: object, body?: Uint8Array): void {
    frames.send({ n: work.add(run), ...message }, body)
  }

  function end(reason: EndReason): void {
    if (hasEnded) return
    hasEnded = true
    flood.end()
    clearInterval(pinger)
    child.kill('SIGKILL')
    stream.destroy()
    onEnd(reason, work.current(), lastWords())
  }

  const live: LiveProcess = {
    isReady: false,
    backlog,
    send,
    sendNow(run, message, body) {
      send(run, message, body)
      frames.flush()
    },
    begins() {
      flood.run()
      processor.begins()
    },
    lagMs: work.lagMs,
    memoryMib: () => memoryMib(child.pid!),
    end,
    async gone() {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      await new Promise((resolve) => child.once('close', resolve))
    },
  }
  return live
}

/** Nothing else that it prints is needed. A full pipe would block it. */
function lastWordsOf(child: ChildProcess): () => string {
  let words = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(0, MAX_LAST_WORDS)
  })
  return () => words.trim()
}

/** A message to the process that it has not worked on yet. */
interface Undone {
  readonly n: number
  readonly run: number | undefined
  readonly sentAt: number
  /** The process' processor time when it was first looked at. */
  processorMs: number | undefined
  /** Since then, the time in which the process could have worked on it. */
  openMs: number
}

/** The messages that the process was sent, from the one that it is at. */
function createUndone(child: ChildProcess) {
  const undone: Undone[] = []
  let sent = 0
  /** The message that it works on; 0: none. */
  let at = 0
  let times: ProcessTimes = { processor: 0, waiting: 0 }
  let lookedAt = performance.now()

  return {
    sent: () => sent,
    add(run: number | undefined): number {
      undone.push({ n: ++sent, run, sentAt: performance.now(), processorMs: undefined, openMs: 0 })
      return sent
    },
    /** Called each `PING_MS`. @returns the processor time so far, and the time since the last look in which the process could work */
    look(): { readonly processorMs: number; readonly passedMs: number } {
      const now = performance.now()
      const seen = processTimes(child.pid!) ?? times
      // A host that stood still looks late, and has not read what the process answered. A sandbox's first process is another one.
      const waitedMs = Math.max(seen.waiting - times.waiting, 0)
      const passedMs = Math.max(Math.min(now - lookedAt, 2 * PING_MS) - waitedMs, 0)
      times = seen
      lookedAt = now
      const [oldest] = undone
      if (oldest?.processorMs !== undefined) oldest.openMs += passedMs
      else if (oldest) oldest.processorMs = seen.processor
      return { processorMs: seen.processor, passedMs }
    },
    reached({ k, n }: Extract<FromPlugin, { k: 'at' | 'idle' }>): void {
      at = k === 'at' ? n : 0
      while (undone[0] && (k === 'at' ? undone[0].n < n : undone[0].n <= n)) undone.shift()
    },
    isDone: () => undone.length === 0,
    isPinged: () => undone.some(({ run }) => run === undefined),
    isStuck(): boolean {
      const [oldest] = undone
      if (oldest?.processorMs === undefined) return false
      return times.processor - oldest.processorMs >= RUNNING.busyMs || oldest.openMs >= RUNNING.silentMs
    },
    lagMs: () => (undone[0] ? performance.now() - undone[0].sentAt : 0),
    /** The run that it works on. */
    current: () => (undone[0]?.n === at ? undone[0].run : undefined),
  }
}
