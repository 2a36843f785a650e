/** The process of one plugin, over its restarts: calls its functions, and starts it again with growing pauses after it ended. */
import type { ChildProcess } from 'node:child_process'
import { isDestinationError, type Logger } from '@claimcheck/core/plugin'
import type { Instant, JsonValue } from '@claimcheck/core/rules'
import { PluginEndedError, type PluginState } from '../hosted.ts'
import type { PluginLogger } from '../plugin-logger.ts'
import type { Floods } from './flood.ts'
import type { HostCalls } from './host-calls.ts'
import { type CallMessage, createLiveProcess, type EndReason, type LiveProcess } from './live-process.ts'
import { type Described, fromWireError, type PluginMethod, toWireError, type WireError } from './messages.ts'
import { createProcessorBudget } from './processor-budget.ts'

export interface ProcessOptions {
  readonly launch: () => ChildProcess
  readonly logger: Logger
  /** Logs the lines of the plugin. */
  readonly pluginLogger: PluginLogger
  readonly now: () => Instant
  /** The counts of floods that the processes of the plugin share. */
  readonly floods: Floods
  /** The offer of the plugin when it was loaded; absent while it is loaded. */
  readonly offers?: string | undefined
  /** The reason that the previous process ended. */
  readonly lastEnd?: EndReason
  /** Sets the plugin up in a process that has just started. Its result has to be the same each time. */
  readonly prepare: (plugin: Described, call: SetupCall) => Promise<string>
}

export type SetupCall = (given: unknown) => Promise<JsonValue>

/** A call that the process works on. */
interface Pending {
  readonly hostCalls: HostCalls | undefined
  /** The number of calls of the host that are not answered yet. */
  calls: number
  resolve(value: JsonValue | undefined): void
  reject(error: Error): void
}

/** The size of the largest message of a setup, which has the plugin's schemas. */
const MAX_SETUP_BYTES = 1024 * 1024
/**
 * The size of the largest other message, such as an observation, a log line, or a request. Reading nested values takes the host 0.1 ms for each KiB.
 */
const MAX_MESSAGE_BYTES = 256 * 1024
const CLOSE_MS = 2000
/** The most calls of the host that one run may have open: a plugin that awaits nothing must not fill the host's memory. */
const MOST_CALLS_AT_ONCE = 256
const LARGE_BYTES = 16 * 1024
const STOPPED = 'the plugin is stopped'

/** The two ends of a start: its process is ready, or failed. */
interface Starting {
  ready(plugin: Described): void
  failed(error: Error): void
}

/** Starts another process of a plugin that is loaded. It is started again until it runs. */
export function startAnotherProcess(options: ProcessOptions & { readonly offers: string }): PluginProcess {
  const process = new PluginProcess(options)
  void process.start().catch(() => {})
  return process
}

/** A process of a plugin that is started, and started again, until it is closed. */
export class PluginProcess {
  readonly #options: ProcessOptions
  /** The time of the last end of a process, by the clock of this host's process. */
  endedAt = Number.NEGATIVE_INFINITY
  readonly #pending = new Map<number, Pending>()
  readonly #nextPauseMs = createPauses()
  readonly #processor = createProcessorBudget()
  /** The process that starts or runs; undefined in the pause before the next one. */
  #live: LiveProcess | undefined
  /** Opens when calls need not wait any more: a process is ready, or none comes. */
  #available = newGate()
  #isClosed = false
  #runs = 0
  #restarts = 0
  #lastEnd: EndReason | undefined
  /** The offer of the plugin, once its first process is ready. */
  #offers: string | undefined

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#offers = options.offers
    this.#lastEnd = options.lastEnd
    if (options.lastEnd !== undefined) this.endedAt = performance.now()
  }

  state(): PluginState {
    const running = this.#live?.isReady ? 'running' : 'restarting'
    return {
      status: this.#isClosed ? 'stopped' : running,
      restarts: this.#restarts,
      ...(this.#lastEnd === undefined ? {} : { lastEnd: this.#lastEnd }),
    }
  }

  memoryMib(): number {
    return this.#live?.memoryMib() ?? 0
  }

  /** Ends the running process, after which another one starts. */
  end(reason: EndReason): void {
    this.#live?.end(reason)
  }

  /** Resolves when the process takes calls, or never will. */
  async available(): Promise<void> {
    if (!this.#isClosed && !this.#live?.isReady) await this.#available.opened
  }

  async start(): Promise<void> {
    if (this.#isClosed) return
    let live: LiveProcess | undefined
    try {
      const plugin = await new Promise<Described>((ready, failed) => {
        live = this.#launch({ ready, failed })
        this.#live = live
      })
      this.#accept(live!, await this.#options.prepare(plugin, (given) => this.#setUp(live!, given)))
    } catch (error) {
      if (live) live.end('it did not start')
      // An error of the system, for want of memory or handles, may pass.
      else {
        this.#lastEnd = 'it did not start'
        this.#restart(false)
      }
      throw error
    }
  }

  #accept(live: LiveProcess, offers: string): void {
    if (this.#offers !== undefined && this.#offers !== offers) {
      live.end('it changed')
      return
    }
    this.#offers = offers
    live.isReady = true
    this.#available.open()
  }

  #launch(starting: Starting): LiveProcess {
    const { launch, floods, logger, pluginLogger } = this.#options
    const live = createLiveProcess({
      launch,
      floods,
      maxBytes: this.#mostBytes(),
      runs: () => this.#pending.size,
      processor: this.#processor,
      onMessage: (message) => this.#receive(live, message, starting),
      onEnd: (reason, lastWords) => {
        if (this.#isClosed) {
          starting.failed(new Error(STOPPED))
          return
        }
        const stderr = pluginLogger.redact(lastWords)
        logger.warn({ reason, stderr: stderr || undefined }, 'the process of the plugin ended')
        starting.failed(new Error(`its process ended: ${reason}${stderr === '' ? '' : `\n${stderr}`}`))
        this.#ended(live, reason)
      },
    })
    return live
  }

  /** Returns the limit of one message. The offer of a plugin is the same each time, and so is its size. */
  #mostBytes(): number {
    return this.#offers === undefined
      ? MAX_SETUP_BYTES
      : Math.max(MAX_MESSAGE_BYTES, 2 * Buffer.byteLength(this.#offers))
  }

  #setUp(live: LiveProcess, given: unknown): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      const run = ++this.#runs
      this.#pending.set(run, { hostCalls: undefined, calls: 0, resolve: resolve as Pending['resolve'], reject })
      live.send({ k: 'run', id: run, method: 'setup', part: 0, args: [given], now: this.#options.now() })
    })
  }

  #ended(live: LiveProcess, reason: EndReason): void {
    this.#lastEnd = reason
    this.endedAt = performance.now()
    this.#live = undefined
    if (live.isReady) this.#available = newGate()
    const wasAlone = this.#pending.size === 1
    for (const [run, { reject }] of [...this.#pending]) {
      this.#pending.delete(run)
      reject(new PluginEndedError(`the process of the plugin ended: ${reason}`, wasAlone))
    }
    this.#restart(live.isReady)
  }

  /**
   * Starts the process again after a pause.
   * @param hasRun true if it took calls before it ended
   */
  #restart(hasRun: boolean): void {
    // Without an offer this was the first start, which fails by itself.
    if (this.#offers === undefined || this.#isClosed) return
    this.#restarts++
    const pauseMs = Math.max(this.#nextPauseMs(hasRun), this.#processor.pauseMs())
    setTimeout(() => void this.start().catch(() => {}), pauseMs).unref()
  }

  #receive(live: LiveProcess, said: CallMessage, { ready, failed }: Starting): void {
    switch (said.k) {
      case 'ready':
        ready(said.plugin)
        return
      case 'log':
        this.#passOn(said)
        return
      case 'call':
        void this.#answer(live, said)
        return
      case 'ok':
        this.#take(said.id)?.resolve(said.value)
        return
      case 'err':
        if (said.id === 0) failed(fromWireError(said.error))
        else this.#take(said.id)?.reject(fromWireError(said.error))
    }
  }

  #take(run: number): Pending | undefined {
    const call = this.#pending.get(run)
    this.#pending.delete(run)
    return call
  }

  #passOn({ level, fields, text }: Extract<CallMessage, { k: 'log' }>): void {
    const to = level === 'info' ? level : 'warn'
    const own = typeof fields === 'object' && fields !== null ? { plugin_fields: fields } : {}
    this.#options.pluginLogger[to](own, text)
  }

  async #answer(live: LiveProcess, { id, run, method, args }: Extract<CallMessage, { k: 'call' }>): Promise<void> {
    const asked = this.#pending.get(run)
    const { hostCalls } = asked ?? {}
    try {
      if (!asked || !hostCalls) throw new TypeError('this run is over, or may ask nothing')
      if (asked.calls >= MOST_CALLS_AT_ONCE) throw new TypeError(`a run may wait for ${MOST_CALLS_AT_ONCE} calls`)
      asked.calls++
      const { value, body } = await hostCalls.answer(method, args)
      const reply = { k: 'ok', id, value }
      if (body === undefined || body.length < LARGE_BYTES) live.send(reply, body)
      // An answer to a run that is over is not sent.
      else await live.sendInTurn(reply, body, () => this.#pending.has(run))
      asked.calls--
    } catch (error) {
      if (asked) asked.calls--
      live.send({ k: 'err', id, error: toPlugin(error), isSpent: hostCalls?.isSpent() === true })
    }
  }

  /**
   * Calls a function of the plugin. Waits while the process is started again.
   * @throws PluginEndedError; Error when it takes longer than `timeoutMs`, or the error of the plugin
   */
  call(
    method: PluginMethod,
    part: number,
    args: (run: number) => readonly unknown[],
    {
      timeoutMs,
      hostCalls,
      signal,
    }: { readonly timeoutMs: number; readonly hostCalls?: HostCalls; readonly signal?: AbortSignal },
  ): Promise<unknown> {
    const run = ++this.#runs
    return new Promise((resolve, reject) => {
      let isSettled = false
      const settle = () => {
        isSettled = true
        clearTimeout(timer)
        signal?.removeEventListener('abort', expire)
        hostCalls?.close()
      }
      const fail = (error: Error) => {
        settle()
        if (this.#pending.delete(run)) this.#live?.send({ k: 'abort', id: run })
        reject(error)
      }
      const expire = () => fail(new Error(`the plugin's ${method} takes longer than ${timeoutMs} ms`))
      const begin = () => {
        const live = this.#live
        if (isSettled) return
        if (this.#isClosed) return fail(new Error(STOPPED))
        // A process that is not ready may have ended as it started, so the call waits.
        if (!live?.isReady) return void this.#available.opened.then(begin)
        const succeed = (value: JsonValue | undefined) => {
          settle()
          resolve(value)
        }
        this.#pending.set(run, { hostCalls, calls: 0, resolve: succeed, reject: fail })
        live.begins()
        live.send({ k: 'run', id: run, method, part, args: args(run), now: this.#options.now() })
      }
      const timer = setTimeout(expire, timeoutMs)
      signal?.addEventListener('abort', expire, { once: true })
      // An aborted signal sends no event.
      if (signal?.aborted) expire()
      else begin()
    })
  }

  /** Ends the process, after a call of the plugin's own `close`. */
  async close(): Promise<void> {
    if (this.#live?.isReady) await this.call('close', 0, () => [], { timeoutMs: CLOSE_MS }).catch(() => {})
    this.#isClosed = true
    const live = this.#live
    live?.end('it exited')
    for (const { reject } of [...this.#pending.values()]) reject(new Error(STOPPED))
    this.#available.open()
    await live?.gone()
  }
}

/** Makes the error that the process gets, without the stack, which tells where the service stands. */
function toPlugin(error: unknown): WireError {
  return isDestinationError(error) ? toWireError(error) : { text: String(error) }
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000
/** The longest pause of a process that does not start: each try takes a second of a processor. */
const LONGEST_UNSTARTED_MS = 60_000
/** The time without an end after which the pauses begin anew. */
const SOUND_MS = 60_000

/** Makes a function that returns the pause, in milliseconds, before a process that ended now is started again. */
function createPauses() {
  let pauseMs = 0
  let lastAt = Number.NEGATIVE_INFINITY
  /**
   * Returns the pause before the next start.
   * @param hasRun true if the process took calls
   */
  return (hasRun: boolean): number => {
    if (performance.now() - lastAt - pauseMs > SOUND_MS) pauseMs = 0
    lastAt = performance.now()
    const wait = pauseMs
    pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), hasRun ? LONGEST_PAUSE_MS : LONGEST_UNSTARTED_MS)
    return wait
  }
}

/** Makes a gate that opens once. */
function newGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
