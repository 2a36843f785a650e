/** Runs inside a plugin's own process: builds the contexts of checks and probes, in which each use of the host is a call of the host. */

import { type CheckLimits, type ConnectInit, createHttp, requireFingerprintText } from '@claimcheck/core/hosting'
import {
  type CheckContext,
  DestinationError,
  type FetchInit,
  type Logger,
  type ProbeContext,
  type Socket,
  type Verifier,
} from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { cacheFor, createCheckCache } from '../check-cache.ts'
import type { Frames } from './frames.ts'
import {
  type CheckArguments,
  fromWireError,
  type WireDigest,
  type WireError,
  type WirePart,
  type WireResponse,
} from './messages.ts'

/** An answer of the host. @property body raw bytes of an answer of a destination */
interface HostAnswer {
  readonly value: unknown
  readonly body: Uint8Array | undefined
}

interface Run {
  readonly aborted: AbortController
  /** True once the host's limits ended the run's requests. */
  isSpent: boolean
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])
const MAX_TEXT = 4096

export function createRuns(frames: Frames) {
  const cache = createCheckCache()
  const runs = new Map<number, Run>()
  const host = createHost(frames)
  const clock = createHostClock()

  const logger = loggerInto(frames)

  function requests(id: number, limits: CheckLimits): Omit<ProbeContext, 'signal' | 'logger' | 'target'> {
    const fetch = async (url: string, init: FetchInit = {}) => {
      const { value, body } = await host.ask(id, 'fetch', url, init)
      return toResponse(value as WireResponse, body, (stream) => streamed(host, id, stream))
    }
    return {
      fetch,
      http: createHttp({ fetch, now: clock.now, limits }),
      async fingerprint(key, text) {
        // A longer message would end the process.
        requireFingerprintText(String(text))
        return host.call(id, 'fingerprint', key, text)
      },
      resolve: (url) => host.call(id, 'resolve', url),
      connect: (url, init = {}) => connect(host, id, url, init),
      query: (url, query) => host.call(id, 'query', url, query),
      reveal() {
        throw new TypeError('a plugin in a process of its own holds no credentials: name them in `auth`')
      },
      now: clock.now,
    }
  }

  function contextOf(id: number, args: CheckArguments): CheckContext {
    const { previous, connection, share, cacheKey, limits } = args
    const run = runs.get(id)!
    const { signal } = run.aborted
    return {
      connection: connection as CheckContext['connection'],
      ...requests(id, limits as CheckLimits),
      async digest(url, init) {
        const { headers, ...answer } = await host.call<WireDigest>(id, 'digest', url, init)
        return { ...answer, headers: headersOf(headers) }
      },
      async ask() {
        throw new TypeError('a plugin in a process of its own starts no programs')
      },
      signal,
      logger,
      cache: cacheFor(cacheKey, cache, {
        // Readings stay at the host; a check that shares a read names the check that made it.
        readings: () => id,
        inherit: (other: number) => host.call<void>(id, 'inherit', other),
        isSpent: () => signal.aborted || run.isSpent,
      }),
      share,
      previous: previous as CheckContext['previous'],
    }
  }

  return {
    logger,
    /** Runs a function of the plugin, and forgets the run when that ends. @param now the host's clock */
    async within<T>(id: number, now: Instant, work: () => Promise<T>): Promise<T> {
      clock.set(now)
      runs.set(id, { aborted: new AbortController(), isSpent: false })
      try {
        return await work()
      } finally {
        runs.delete(id)
        host.forget(id)
      }
    },
    async check(id: number, verifier: Verifier, args: CheckArguments): Promise<unknown> {
      return verifier.check(args.claim as never, contextOf(id, args))
    },
    probeContext(id: number, target?: string): ProbeContext {
      const context = { signal: runs.get(id)!.aborted.signal, logger, ...requests(id, {}) }
      return target === undefined ? context : { ...context, target }
    },
    abort(id: number): void {
      runs.get(id)?.aborted.abort()
      for (const { reject } of host.forget(id)) reject(new DestinationError('timeout'))
    },
    answer: (id: number, answer: HostAnswer) => host.take(id)?.resolve(answer),
    refuse(id: number, error: WireError, isSpent: boolean): void {
      const call = host.take(id)
      const run = call && runs.get(call.run)
      if (run && isSpent) run.isSpent = true
      call?.reject(fromWireError(error))
    },
    stray(text: string, error: unknown): void {
      const stack = error instanceof Error ? String(error.stack) : `a ${typeof error}`
      logger.warn({ stack: stack.slice(0, MAX_TEXT) }, text)
    },
  }
}

function loggerInto(frames: Frames): Logger {
  const log = (level: string) => (fields: Readonly<Record<string, unknown>>, text: string) => {
    frames.send({ k: 'log', level, fields: plainFields(fields), text: String(text).slice(0, MAX_TEXT) })
  }
  return { info: log('info'), warn: log('warn') }
}

/** A call of the host that is not answered yet. */
interface Asked {
  readonly run: number
  resolve(answer: HostAnswer): void
  reject(error: Error): void
}

type Host = ReturnType<typeof createHost>

function createHost(frames: Frames) {
  const asked = new Map<number, Asked>()
  let calls = 0

  function ask(run: number, method: string, ...args: unknown[]): Promise<HostAnswer> {
    return new Promise((resolve, reject) => {
      const id = ++calls
      asked.set(id, { run, resolve, reject })
      frames.send({ k: 'call', id, run, method, args })
    })
  }

  return {
    ask,
    /** Calls the host, for an answer without a body. */
    call: async <T>(run: number, method: string, ...args: unknown[]) => (await ask(run, method, ...args)).value as T,
    take(call: number): Asked | undefined {
      const found = asked.get(call)
      asked.delete(call)
      return found
    },
    /** Forgets the unanswered calls of a run, and returns them. */
    forget(run: number): readonly Asked[] {
      const its = [...asked].filter(([, one]) => one.run === run)
      for (const [call] of its) asked.delete(call)
      return its.map(([, one]) => one)
    },
  }
}

async function connect(host: Host, run: number, url: string, init: ConnectInit): Promise<Socket> {
  const socket = await host.call<number>(run, 'connect', url, init)
  const close = () => host.call<void>(run, 'socketClose', socket)
  return {
    readable: new ReadableStream<Uint8Array>({
      pull: (controller) => pullPart(controller, host.ask(run, 'socketRead', socket)),
      cancel: close,
    }),
    writable: new WritableStream<Uint8Array>({
      write: (part) => host.call(run, 'socketWrite', socket, Buffer.from(part).toString('base64')),
      close,
      abort: close,
    }),
    close,
  }
}

/** Makes the body of an answer, of which the host sends the parts that are read. */
function streamed(host: Host, run: number, stream: number): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      pull: (controller) => pullPart(controller, host.ask(run, 'read', stream)),
      cancel: () => host.call<void>(run, 'cancel', stream),
    },
    { highWaterMark: 0 },
  )
}

async function pullPart(
  controller: ReadableStreamDefaultController<Uint8Array>,
  asked: Promise<HostAnswer>,
): Promise<void> {
  const { value, body } = await asked
  if (body !== undefined && body.length > 0) controller.enqueue(body)
  if ((value as WirePart).isLast) controller.close()
}

/** A clock that shows the host's time, as it was last told and as time went on here since. */
function createHostClock() {
  let ahead = 0
  return {
    now: (): Instant => Math.round(performance.now() + ahead),
    set(now: Instant) {
      ahead = now - performance.now()
    },
  }
}

/** Copies the fields of a log line, which may be anything, without values that JSON cannot express. */
function plainFields(fields: unknown): unknown {
  try {
    const text = JSON.stringify(fields, (_, value) => (value instanceof Error ? String(value.stack) : value))
    return text.length <= MAX_TEXT ? JSON.parse(text) : { cut: text.slice(0, MAX_TEXT) }
  } catch {
    return {}
  }
}

function headersOf(headers: WireResponse['headers']): Headers {
  return new Headers(headers.map(([name, value]) => [name, value] as [string, string]))
}

function toResponse(
  { status, url, headers, stream }: WireResponse,
  body: Uint8Array | undefined,
  open: (stream: number) => ReadableStream<Uint8Array>,
): Response {
  const content = stream === undefined ? body : open(stream)
  const init = { status, headers: headersOf(headers) }
  const response = new Response(NO_BODY.has(status) ? null : ((content as BodyInit | undefined) ?? null), init)
  // The constructor of Response cannot set the URL.
  return Object.defineProperty(response, 'url', { value: url })
}
