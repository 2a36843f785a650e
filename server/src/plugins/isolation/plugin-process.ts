/**
 * The process of one plugin, over its restarts: calls its functions, starts it again with growing pauses after it ended, and says which call
 * ended it, where the process told what it was working on.
 */
import type { ChildProcess } from 'node:child_process'
import { isDestinationError, type Logger } from '@claimcheck/core/plugin'
import type { Instant, JsonValue } from '@claimcheck/core/rules'
import type { PluginState } from '../hosted.ts'
import type { PluginLogger } from '../plugin-logger.ts'
import type { HostCalls } from './host-calls.ts'
import { createLiveProcess, type EndReason, type LiveProcess, type Said } from './live-process.ts'
import { type Described, fromWireError, type PluginMethod, toWireError, type WireError } from './messages.ts'

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

/** In bytes: a setup's schemas. */
const MAX_SETUP_BYTES = 1024 * 1024
/** An observation, a log line, a request. What is nested takes the host 0.1 ms for each KiB. */
const MAX_MESSAGE_BYTES = 256 * 1024
const START_MS = 10_000
const CLOSE_MS = 2000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000
/** After so long without an end, the pauses begin anew. */
const SOUND_MS = 60_000
/** Of one run: a plugin that awaits nothing must not fill the host's memory. */
const MOST_CALLS_AT_ONCE = 256
const LARGE_BYTES = 64 * 1024
const STOPPED = 'the plugin is stopped'

export async function startPluginProcess(options: ProcessOptions): Promise<PluginProcess> {
  const { launch, logger, pluginLogger, now, prepare } = options
  const pending = new Map<number, Pending>()
  let current: LiveProcess | undefined
  let available = newGate()
  let runs = 0
  let restarts = 0
  let pauseMs = 0
  let soundSince = Number.NEGATIVE_INFINITY
  let lastEnd: string | undefined
  let isClosed = false
  let known: string | undefined

  /** Of one message. What a plugin offers is the same each time. */
  function mostBytes(): number {
    return known === undefined ? MAX_SETUP_BYTES : Math.max(MAX_MESSAGE_BYTES, 2 * Buffer.byteLength(known))
  }

  interface Starting {
    ready(plugin: Described): void
    failed(error: Error): void
  }

  function launched(starting: Starting): LiveProcess {
    const live = createLiveProcess({
      launch,
      maxBytes: mostBytes(),
      runs: () => pending.size,
      onSaid: (said) => receive(live, said, starting),
      onTooMuch(run) {
        pending.get(run)?.reject(new Error('its requests take too much of the memory of the service'))
      },
      onEnd(reason, blamed, lastWords) {
        if (isClosed) {
          starting.failed(new Error(STOPPED))
          return
        }
        lastEnd = reason
        logger.warn({ reason, stderr: pluginLogger.redact(lastWords) || undefined }, 'the process of the plugin ended')
        starting.failed(new Error(`its process ended: ${reason}${lastWords === '' ? '' : `\n${lastWords}`}`))
        ended(live, reason, blamed)
      },
    })
    return live
  }

  function receive(live: LiveProcess, said: Said, { ready, failed }: Starting): void {
    switch (said.k) {
      case 'ready':
        ready(said.plugin)
        return
      case 'log':
        passOn(said)
        return
      case 'call':
        void answer(live, said)
        return
      case 'ok':
        settled(said.id)?.resolve(said.value)
        return
      case 'err':
        if (said.id === 0) failed(fromWireError(said.error))
        else settled(said.id)?.reject(fromWireError(said.error))
    }
  }

  function settled(run: number): Pending | undefined {
    const call = pending.get(run)
    pending.delete(run)
    return call
  }

  function passOn({ level, fields, text }: Extract<Said, { k: 'log' }>): void {
    const to = level === 'debug' || level === 'info' ? level : 'warn'
    pluginLogger[to](typeof fields === 'object' && fields !== null ? { plugin_fields: fields } : {}, text)
  }

  async function answer(live: LiveProcess, { id, run, method, args }: Extract<Said, { k: 'call' }>): Promise<void> {
    const asked = pending.get(run)
    const { hostCalls } = asked ?? {}
    try {
      if (!asked || !hostCalls) throw new TypeError('this run is over, or may ask nothing')
      if (asked.calls >= MOST_CALLS_AT_ONCE) throw new TypeError(`a run may wait for ${MOST_CALLS_AT_ONCE} calls`)
      asked.calls++
      const { bytes, value } = await hostCalls
        .answer(method, args, (bytes) => live.holding.add(run, bytes))
        .finally(() => asked.calls--)
      if (bytes < LARGE_BYTES) live.send(run, { k: 'ok', id, value: value() })
      // What is for a run that is over is not sent.
      else await live.holding.inTurn(() => pending.has(run) && live.sendNow(run, { k: 'ok', id, value: value() }))
      live.holding.add(run, -bytes)
    } catch (error) {
      live.send(run, { k: 'err', id, error: toPlugin(error), isEnded: hostCalls?.isEnded() === true })
    }
  }

  function ended(live: LiveProcess, reason: EndReason, blamed: number | undefined): void {
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
    let live: LiveProcess | undefined
    const limit = setTimeout(() => live?.end('it did not start'), START_MS)
    try {
      const plugin = await new Promise<Described>((resolve, reject) => {
        live = launched({ ready: resolve, failed: reject })
        current = live
      })
      const started = live!
      const setup: SetupCall = (given) =>
        new Promise((resolve, reject) => {
          const run = ++runs
          pending.set(run, { hostCalls: undefined, calls: 0, resolve: resolve as Pending['resolve'], reject })
          started.send(run, { k: 'run', id: run, method: 'setup', part: 0, args: [given], now: now() })
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
        if (pending.delete(run)) current?.send(run, { k: 'abort', id: run })
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
        live.begins()
        live.send(run, { k: 'run', id: run, method, part, args: args(run), now: now() })
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
      return current.lagMs()
    },
    async close() {
      if (current?.isReady) await call('close', 0, () => [], { timeoutMs: CLOSE_MS }).catch(() => {})
      isClosed = true
      const live = current
      live?.end('it exited')
      for (const { reject } of [...pending.values()]) reject(new Error(STOPPED))
      available.open()
      await live?.gone()
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
