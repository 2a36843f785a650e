/** Sends a request until it is answered, or until trying makes no sense any more. */
import type { Answer } from './answers.ts'
import { ClaimcheckError, ConnectionError, errorOf, TimeoutError, UnexpectedAnswerError } from './errors.ts'
import { pause, pauseBefore } from './retry.ts'
import { limitedSignal } from './timer.ts'
import { headerOf, inMemory, keepFrom, type TreeHeadMemory } from './tree-head.ts'

export interface TransportOptions {
  /** The address of the service, such as `https://claimcheck.example.com`. */
  readonly baseUrl: string
  /** An API key, `svc_sk_...`, or a token; a function is asked before each request. Receipts are read without one. */
  readonly key?: string | (() => string | Promise<string>)
  /** Sends the requests. Defaults to the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Limits one request and its answer, in milliseconds. Defaults to 30 seconds. */
  readonly timeoutMs?: number
  /** Limits how long a call goes on trying when the service is away or asks to wait, in milliseconds. Defaults to a minute; 0 tries once. */
  readonly retryForMs?: number
  /** Tells whether to send the key also over http to other machines. On this machine http needs no leave. */
  readonly allowHttp?: boolean
  /** Keeps the newest signed head of the service's log beyond the life of the client. */
  readonly treeHead?: TreeHeadMemory
}

export interface CallOptions {
  /** Ends the call, which throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

const TIMEOUT_MS = 30_000
const RETRY_FOR_MS = 60_000
const STREAM = 'text/event-stream'
const ACCEPT = { accept: 'application/json' }
const MOST_BYTES = 32 * 1024 * 1024
/** The silence after which a stream counts as broken. The service sends something every 15 seconds. */
const LONGEST_SILENCE_MS = 45_000

export function createTransport(options: TransportOptions) {
  const root = serviceAddress(options.baseUrl, options.allowHttp ?? false)
  const { key, timeoutMs = TIMEOUT_MS, retryForMs = RETRY_FOR_MS, treeHead = inMemory() } = options
  const send = options.fetch ?? globalThis.fetch
  if (typeof key === 'string') authorization(key)

  /** Sends a request once, without retries. */
  async function exchange(path: string, init: RequestInit, stop: AbortSignal | undefined): Promise<string> {
    const late = new TimeoutError(`no answer from ${root} within ${timeoutMs} ms`)
    const { signal, end } = limitedSignal(stop, timeoutMs, late)
    try {
      const response = await send(root + path, { ...init, redirect: 'manual', signal })
      requireNoRedirect(response, root)
      keepFrom(response, treeHead)
      const text = await readText(response, root)
      if (!response.ok) throw errorOf(response.status, response.headers, text)
      return text
    } catch (error) {
      if (stop?.aborted) throw stop.reason
      if (signal.aborted) throw late
      throw error instanceof ClaimcheckError ? error : unreachable(root, error)
    } finally {
      end()
    }
  }

  /** Sends a request until it is answered. @param make is called before each try, because a token may have been renewed since the last one */
  async function request(path: string, make: () => Promise<RequestInit>, options?: CallOptions): Promise<string> {
    const signal = options?.signal
    const startedAt = performance.now()
    for (let tries = 1; ; tries += 1) {
      const init = await make()
      signal?.throwIfAborted()
      try {
        return await exchange(path, init, signal)
      } catch (error) {
        const elapsedMs = performance.now() - startedAt
        const pauseMs = pauseBefore(error, { tries, elapsedMs, limitMs: retryForMs, random: Math.random() })
        if (pauseMs === undefined || signal?.aborted) throw error
        await pause(pauseMs, signal)
      }
    }
  }

  async function openStream(path: string, signal: AbortSignal): Promise<Response> {
    const headers = { accept: STREAM, ...(await credentials()) }
    const response = await send(root + path, { headers, redirect: 'manual', signal })
    requireNoRedirect(response, root)
    if (!response.ok) throw errorOf(response.status, response.headers, await readText(response, root))
    if (response.headers.get('content-type')?.startsWith(STREAM)) return response
    throw new UnexpectedAnswerError(`${root} did not answer with events: is this the address of the service?`)
  }

  async function credentials(): Promise<Record<string, string>> {
    const given = typeof key === 'function' ? await key() : key
    return given === undefined ? {} : { ...authorization(given), ...headerOf(treeHead) }
  }

  /** Parses an answer. @throws UnexpectedAnswerError for what is no JSON, or another answer */
  function parse<T>(answer: Answer<T>, text: string): T {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      throw new UnexpectedAnswerError(`${root} answered with no JSON: is this the address of the service?`)
    }
    if (answer.fits(value)) return value
    throw new UnexpectedAnswerError(`${root} did not answer with ${answer.name}: is this the address of the service?`)
  }

  return {
    parse,
    retryForMs,
    /** Opens a stream of events once, and yields its text as it comes, until the service ends it. @throws as `json` does, without retries */
    async *stream(path: string, { signal: stop }: CallOptions = {}): AsyncGenerator<string, void, undefined> {
      const late = new ConnectionError(`${root} was silent for ${LONGEST_SILENCE_MS} ms`)
      const { signal, restart, end } = limitedSignal(stop, LONGEST_SILENCE_MS, late)
      try {
        for await (const piece of piecesOf(await openStream(path, signal), root)) {
          restart()
          yield piece
        }
      } catch (error) {
        if (stop?.aborted) throw stop.reason
        if (signal.aborted) throw late
        throw error instanceof ClaimcheckError ? error : unreachable(root, error)
      } finally {
        end()
      }
    },
    /** Reads public documents without the key, and returns the text as it was sent. @throws ClaimcheckError, and the signal's reason */
    text: (path: string, options?: CallOptions) => request(path, async () => ({ headers: ACCEPT }), options),
    /** Sends a request with the key. A body is posted, and made anew for each try. @throws ClaimcheckError, and the signal's reason */
    async json<T>(answer: Answer<T>, path: string, options?: CallOptions, body?: () => unknown): Promise<T> {
      const make = async () => {
        const headers = { ...ACCEPT, ...(await credentials()) }
        if (body === undefined) return { headers }
        const sent = { ...headers, 'content-type': 'application/json' }
        return { method: 'POST', body: JSON.stringify(body()), headers: sent }
      }
      return parse(answer, await request(path, make, options))
    },
  }
}

/** Refuses to follow redirects: the key is for this address alone. @throws UnexpectedAnswerError for a redirect */
function requireNoRedirect({ type, status }: Response, root: string): void {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new UnexpectedAnswerError(`${root} leads to another address: pass the one at which the service answers`)
  }
}

/**
 * Reads the text exactly as it was sent, so that its bytes can be checked.
 * @throws UnexpectedAnswerError for more than a client should hold, and for what is no text
 */
async function readText(response: Response, root: string): Promise<string> {
  let text = ''
  for await (const piece of piecesOf(response, root, MOST_BYTES)) text += piece
  return text
}

/** Yields the text of an answer as it comes. @throws as `readText` does */
async function* piecesOf(
  { body, ok }: Response,
  root: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  // An error may come from a proxy, with a page in any encoding.
  const decoder = new TextDecoder('utf-8', { fatal: ok, ignoreBOM: true })
  const reader = body?.getReader()
  let bytes = 0
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      bytes += part.value.byteLength
      if (bytes > most) throw new UnexpectedAnswerError(`${root} answered with more than ${most} bytes`)
      yield decoded(root, () => decoder.decode(part?.value, { stream: true }))
    }
    yield decoded(root, () => decoder.decode())
  } finally {
    // Cancelling ends the connection, where the rest is not read.
    await reader?.cancel().catch(() => {})
  }
}

function decoded(root: string, decode: () => string): string {
  try {
    return decode()
  } catch {
    throw new UnexpectedAnswerError(`${root} answered with no text: is this the address of the service?`)
  }
}

/** Makes the error of a failed request, with its reason: the error of `fetch` says little, and its cause says why. */
function unreachable(root: string, error: unknown): ConnectionError {
  const { message, cause } = error as Error
  const why = cause instanceof Error ? cause.message || (cause as Error & { code?: string }).code : message
  return new ConnectionError(`${root} cannot be reached: ${why}`, { cause: error })
}

/** Makes the header that carries the key. @throws TypeError which does not repeat the key, as the error of `fetch` would */
function authorization(key: string): { readonly authorization: string } {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError('the key has characters that no key has')
  return { authorization: `Bearer ${key}` }
}

/**
 * Drops a slash at the end of a service's address.
 * @throws TypeError for what is no address of a service, and for one that others on the way can read and change
 */
function serviceAddress(text: string, allowHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must be an https address without user, query or fragment')
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new TypeError(
      `baseUrl must be https: others on the way to ${url.host} could read the key. In a network that you trust, pass allowHttp: true`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
