/**
 * The process of one plugin: starts it, calls it, ends it when it loops, dies, floods or grows, and starts it again with growing pauses. It
 * says which call ended it, where the process told what it was working on.
 */
import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { type Instant, isDestinationError, type JsonValue, type Logger } from '@claimcheck/core'
import type { PluginState } from '../hosted.ts'
import type { PluginLogger } from '../plugin-logger.ts'
import { createFlood, type Flood } from './flood.ts'
import { createFrames, type Frames } from './frames.ts'
import { createHolding, type Holding } from './holding.ts'
import type { HostCalls } from './host-calls.ts'
import {
  type Described,
  type FromPlugin,
  fromWireError,
  type PluginMethod,
  toWireError,
  type WireError,
} from './messages.ts'
import { processorTimeMs } from './processor-time.ts'
import { readMessage } from './received.ts'

/** The process ended while it worked on a call. */
export class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded'
  /** `this`: it worked on this call. `other`: on another one. `unsure`: nothing tells. */
  readonly blame: 'this' | 'other' | 'unsure'
  /** It worked on no other call. */
  readonly wasAlone: boolean

  constructor(reason: EndReason, blame: ProcessEnded['blame'], wasAlone: boolean) {
    super(`the process of the plugin ended: ${reason}`)
    this.blame = blame
    this.wasAlone = wasAlone
  }
}

export type EndReason = 'it exited' | 'it looped' | 'it flooded the host' | 'it did not start' | 'it changed'

export interface PluginProcess {
  /**
   * Calls a function of the plugin. Waits while the process is started again.
   * @throws ProcessEnded; Error when it takes longer than `timeoutMs`, or the error of the plugin
   */
  call(
    method: PluginMethod,
    part: number,
    args: (run: number) => readonly unknown[],
    options: CallOptions,
  ): Promise<unknown>
  state(): PluginState
  /** For how long it has not answered what it was sent; infinite while it is started. Milliseconds. */
  lagMs(): number
  /** Ends the process, after the plugin's own `close`. */
  close(): Promise<void>
}

export interface CallOptions {
  readonly timeoutMs: number
  readonly hostCalls?: HostCalls
  readonly signal?: AbortSignal
}

export interface ProcessOptions {
  readonly launch: () => ChildProcess
  readonly logger: Logger
  /** For what the plugin says. */
  readonly pluginLogger: PluginLogger
  readonly now: () => Instant
  /** Sets the plugin up in a process that has just been started. Its result has to be the same each time. */
  readonly prepare: (plugin: Described, call: SetupCall) => Promise<string>
}

/** Calls the plugin's setup. */
export type SetupCall = (given: unknown) => Promise<JsonValue>

interface Pending {
  readonly hostCalls: HostCalls | undefined
  /** Calls of the host that are not answered yet. */
  calls: number
  resolve(value: JsonValue | undefined): void
  reject(error: Error): void
}

/** A message to the process that it has not worked on yet. */
interface Undone {
  readonly n: number
  readonly run: number | undefined
  readonly sentAt: number
  /** The process' processor time when it was sent, once that was read. */
  processorMs: number | undefined
}

/** In bytes: a setup's schemas. */
const MAX_SETUP_BYTES = 1024 * 1024
/** An observation, a log line, a request. What is nested takes the host 0.1 ms for each KiB. */
const MAX_MESSAGE_BYTES = 256 * 1024
const START_MS = 10_000
const PING_MS = 250
/** A process is ended when one message keeps its processor busy for this long. */
const BUSY_MS = 750
/** Or when it works on nothing for this long, however busy the machine is. */
const SILENT_MS = 15_000
const CLOSE_MS = 2000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000
/** After so long without an end, the pauses begin anew. */
const SOUND_MS = 60_000
/** Of one run: a plugin that awaits nothing must not fill the host's memory. */
const MOST_CALLS_AT_ONCE = 256
const LARGE_BYTES = 64 * 1024
const STOPPED = 'the plugin is stopped'
const MAX_STDERR = 8192

export async function startPluginProcess(options: ProcessOptions): Promise<PluginProcess> {
  const { launch, logger, pluginLogger, now, prepare } = options
  const pending = new Map<number, Pending>()
  let current: Live | undefined
  let available = newGate()
  let runs = 0
  let restarts = 0
  let pauseMs = 0
  let soundSince = Number.NEGATIVE_INFINITY
  let lastEnd: string | undefined
  let isClosed = false
  let known: string | undefined

  interface Live {
    readonly child: ChildProcess
    readonly frames: Frames
    readonly undone: Undone[]
    /** The message that it works on; 0: none. */
    at: number
    sent: number
    isReady: boolean
    readonly pinger: NodeJS.Timeout
    readonly flood: Flood
    readonly holding: Holding
    end(reason: EndReason): void
  }

  function send(live: Live, run: number | undefined, message: object): void {
    const n = ++live.sent
    live.undone.push({ n, run, sentAt: performance.now(), processorMs: undefined })
    live.frames.send({ n, ...message })
  }

  function sendNow(live: Live, run: number, message: object): void {
    send(live, run, message)
    live.frames.flush()
  }

  /** Ends it when the oldest message keeps it busy, and sends one that shows whether it still works. */
  function watch(live: Live): void {
    // Whatever it says that it has worked on.
    if (live.holding.waitingMs() >= SILENT_MS) {
      live.end('it looped')
      return
    }
    const [oldest] = live.undone
    if (oldest) {
      const spent = processorTimeMs(live.child.pid!)
      oldest.processorMs ??= spent
      const isBusy = spent !== undefined && spent - (oldest.processorMs ?? spent) >= BUSY_MS
      if (isBusy || performance.now() - oldest.sentAt >= SILENT_MS) {
        live.end('it looped')
        return
      }
    }
    if (!live.undone.some(({ run }) => run === undefined)) send(live, undefined, { k: 'ping' })
  }

  /** Of one message. What a plugin offers is the same each time. */
  function mostBytes(): number {
    return known === undefined ? MAX_SETUP_BYTES : Math.max(MAX_MESSAGE_BYTES, 2 * Buffer.byteLength(known))
  }

  function launched(onReady: (plugin: Described) => void, onFailed: (error: Error) => void): Live {
    const child = launch()
    const stream = child.stdio[3] as Duplex
    let stderr = ''
    let isOver = false
    const flood = createFlood({ runs: () => pending.size, onFlood: () => live.end('it flooded the host') })
    flood.watch(stream)
    const frames = createFrames(stream, {
      maxBytes: mostBytes(),
      onMessage(message) {
        if (isOver) return
        flood.message()
        const known = readMessage(message, live.sent)
        if (known) receive(live, known, onReady, onFailed)
        else live.end('it flooded the host')
      },
      onEnd: (problem) => live.end(problem === 'ended' ? 'it exited' : 'it flooded the host'),
    })
    flood.watchWork(stream)
    const live: Live = {
      child,
      frames,
      undone: [],
      at: 0,
      sent: 0,
      isReady: false,
      pinger: setInterval(() => watch(live), PING_MS),
      flood,
      holding: createHolding(stream, {
        onTooMuch(run) {
          pending.get(run)?.reject(new Error('its requests take too much of the memory of the service'))
        },
      }),
      end(reason) {
        if (isOver) return
        isOver = true
        clearInterval(live.pinger)
        child.kill('SIGKILL')
        stream.destroy()
        const [oldest] = live.undone
        const blamed = oldest && oldest.n === live.at ? oldest.run : undefined
        if (isClosed) {
          onFailed(new Error(STOPPED))
          return
        }
        lastEnd = reason
        logger.warn(
          { reason, stderr: pluginLogger.redact(stderr.trim()) || undefined },
          'the process of the plugin ended',
        )
        onFailed(new Error(`its process ended: ${reason}${stderr === '' ? '' : `\n${stderr.trim()}`}`))
        ended(live, reason, blamed)
      },
    }
    live.pinger.unref()
    child.on('error', () => live.end('it did not start'))
    child.on('close', () => live.end('it exited'))
    // Nobody needs what it prints, but for the last words of a process that dies. A full pipe would block it.
    flood.watchPrinted(child.stdout!)
    flood.watchPrinted(child.stderr!)
    child.stderr!.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(0, MAX_STDERR)
    })
    return live
  }

  function receive(
    live: Live,
    message: FromPlugin,
    onReady: (plugin: Described) => void,
    onFailed: (error: Error) => void,
  ): void {
    switch (message.k) {
      case 'at':
        live.at = message.n
        while (live.undone.length > 0 && live.undone[0]!.n < message.n) live.undone.shift()
        return
      case 'idle':
        live.at = 0
        while (live.undone.length > 0 && live.undone[0]!.n <= message.n) live.undone.shift()
        return
      case 'ready':
        onReady(message.plugin)
        return
      case 'log':
        passOn(message)
        return
      case 'call':
        void answer(live, message)
        return
      case 'ok':
      case 'err': {
        if (message.k === 'err' && message.id === 0) {
          onFailed(fromWireError(message.error))
          return
        }
        const call = pending.get(message.id)
        pending.delete(message.id)
        if (message.k === 'ok') call?.resolve(message.value)
        else call?.reject(fromWireError(message.error))
        return
      }
    }
  }

  function passOn({ level, fields, text }: Extract<FromPlugin, { k: 'log' }>): void {
    const to = level === 'debug' || level === 'info' ? level : 'warn'
    pluginLogger[to](typeof fields === 'object' && fields !== null ? { plugin_fields: fields } : {}, text)
  }

  async function answer(live: Live, { id, run, method, args }: Extract<FromPlugin, { k: 'call' }>): Promise<void> {
    const asked = pending.get(run)
    const { hostCalls } = asked ?? {}
    try {
      if (!asked || !hostCalls) throw new TypeError('this run is over, or may ask nothing')
      if (asked.calls >= MOST_CALLS_AT_ONCE) throw new TypeError(`a run may wait for ${MOST_CALLS_AT_ONCE} calls`)
      asked.calls++
      const { bytes, value } = await hostCalls
        .answer(method, args, (bytes) => live.holding.add(run, bytes))
        .finally(() => asked.calls--)
      if (bytes < LARGE_BYTES) send(live, run, { k: 'ok', id, value: value() })
      // What is for a run that is over is not sent.
      else await live.holding.inTurn(() => pending.has(run) && sendNow(live, run, { k: 'ok', id, value: value() }))
      live.holding.add(run, -bytes)
    } catch (error) {
      send(live, run, { k: 'err', id, error: toPlugin(error), isEnded: hostCalls?.isEnded() === true })
    }
  }

  function ended(live: Live, reason: EndReason, blamed: number | undefined): void {
    if (current === live) current = undefined
    if (live.isReady) available = newGate()
    const wasAlone = pending.size === 1
    for (const [run, { reject }] of [...pending]) {
      pending.delete(run)
      reject(new ProcessEnded(reason, blameOf(run, blamed), wasAlone))
    }
    restart()
  }

  function restart(): void {
    // The first start fails by itself.
    if (known === undefined || isClosed) return
    if (performance.now() - soundSince > SOUND_MS) pauseMs = 0
    soundSince = performance.now()
    const wait = pauseMs
    pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
    restarts++
    setTimeout(() => void start().catch(() => {}), wait).unref()
  }

  async function start(): Promise<void> {
    if (isClosed) return
    let live: Live | undefined
    const limit = setTimeout(() => live?.end('it did not start'), START_MS)
    try {
      const plugin = await new Promise<Described>((resolve, reject) => {
        live = launched(resolve, reject)
        current = live
      })
      const started = live!
      const setup: SetupCall = (given) =>
        new Promise((resolve, reject) => {
          const run = ++runs
          pending.set(run, { hostCalls: undefined, calls: 0, resolve: resolve as Pending['resolve'], reject })
          send(started, run, { k: 'run', id: run, method: 'setup', part: 0, args: [given], now: now() })
        })
      const made = await prepare(plugin, setup)
      if (known !== undefined && known !== made) {
        started.end('it changed')
        return
      }
      known = made
      started.isReady = true
      available.open()
    } catch (error) {
      if (live) live.end('it did not start')
      // The system gave no process, for want of memory or handles, which may pass.
      else restart()
      throw error
    } finally {
      clearTimeout(limit)
    }
  }

  await start()

  function call(
    method: PluginMethod,
    part: number,
    args: (run: number) => readonly unknown[],
    { timeoutMs, hostCalls, signal }: CallOptions,
  ): Promise<unknown> {
    const run = ++runs
    return new Promise((resolve, reject) => {
      const expire = () => fail(new Error(`the plugin's ${method} takes longer than ${timeoutMs} ms`))
      const timer = setTimeout(expire, timeoutMs)
      signal?.addEventListener('abort', expire, { once: true })

      let isOver = false
      function settle(): void {
        isOver = true
        clearTimeout(timer)
        signal?.removeEventListener('abort', expire)
        hostCalls?.close()
      }

      function fail(error: Error): void {
        settle()
        if (pending.delete(run) && current) send(current, run, { k: 'abort', id: run })
        reject(error)
      }

      function begin(): void {
        if (isClosed) {
          fail(new Error(STOPPED))
          return
        }
        const live = current
        if (!live?.isReady) {
          fail(new ProcessEnded('it did not start', 'other', false))
          return
        }
        pending.set(run, {
          hostCalls,
          calls: 0,
          resolve(value) {
            settle()
            resolve(value)
          },
          reject: fail,
        })
        live.flood.run()
        send(live, run, { k: 'run', id: run, method, part, args: args(run), now: now() })
      }

      // Of an aborted signal no event tells.
      if (signal?.aborted) expire()
      else if (isClosed || current?.isReady) begin()
      else void available.opened.then(() => isOver || begin())
    })
  }

  function statusNow(): PluginState['status'] {
    if (isClosed) return 'stopped'
    return current?.isReady ? 'running' : 'restarting'
  }

  return {
    call,
    state: () => ({
      status: statusNow(),
      restarts,
      ...(lastEnd === undefined ? {} : { lastEnd }),
    }),
    lagMs() {
      if (isClosed) return 0
      if (!current?.isReady) return Number.POSITIVE_INFINITY
      const [oldest] = current.undone
      return oldest ? performance.now() - oldest.sentAt : 0
    },
    async close() {
      if (current?.isReady) await call('close', 0, () => [], { timeoutMs: CLOSE_MS }).catch(() => {})
      isClosed = true
      const { child } = current ?? {}
      current?.end('it exited')
      for (const { reject } of [...pending.values()]) reject(new Error(STOPPED))
      available.open()
      if (child && child.exitCode === null && child.signalCode === null) {
        await new Promise((resolve) => child.once('close', resolve))
      }
    },
  }
}

/** Without the stack, which tells where the service stands. */
function toPlugin(error: unknown): WireError {
  return isDestinationError(error) ? toWireError(error) : { text: String(error) }
}

function blameOf(run: number, blamed: number | undefined): ProcessEnded['blame'] {
  if (blamed === undefined) return 'unsure'
  return blamed === run ? 'this' : 'other'
}

/** Opens once. */
function newGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
