/** The requests of one check as a host guards them: declared hosts and calls, bounded time and size, credentials put in. */
import { createHash } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { SecretValues } from '../contract/auth.ts'
import { DestinationError, isDestinationError } from '../contract/destination-error.ts'
import { CEILING, type CheckLimits, type FetchInit } from '../contract/fetch.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { CheckContext } from '../contract/verifier.ts'
import type { Instant } from '../evidence.ts'
import { isOwnWww, requireOrigin } from '../hosting/base-address.ts'
import { BreachError } from '../hosting/breach.ts'
import { callBody } from '../hosting/calls.ts'
import { digestAnswer, digestHeaders } from '../hosting/digest.ts'
import type { Grant } from '../hosting/grants.ts'
import { requestHeaders } from '../hosting/headers.ts'
import { mergeReadings, NO_READINGS, type Readings, readAnswer } from '../hosting/readings.ts'
import { parseUrl } from '../url.ts'

export interface Guard {
  /** The base address, whose origin the plugin may ask. */
  readonly baseUrl: string
  /** Where its requests go. */
  readonly proxy: string
  /** @throws BreachError where the manifest allows no check at the base address */
  readonly grant: () => Grant
  readonly manifest: Pick<Manifest, 'methods' | 'sockets'>
  readonly secrets: SecretValues
  readonly limits: CheckLimits
  readonly signal: AbortSignal
  readonly now: () => Instant
  /** Told of what the host refuses. @param name of the kit's check */
  readonly misused: (name: string, problem: string, error?: BreachError) => void
  /** Code of the plugin goes on. */
  readonly resumed: () => void
}

export interface GuardedRequests extends Pick<CheckContext, 'fetch' | 'digest'> {
  readings(): Readings
  inherit(readings: Readings): void
  /** For what is sent by no request. @throws DestinationError after too many */
  count(): void
  heard(headers: Headers, sentAt: Instant): void
  /** A body was larger than a check may read. */
  isTooLarge(): boolean
}

interface Sent {
  readonly method: FetchInit['method']
  readonly headers: Headers
  readonly body: string | undefined
  /** Of the answer's body. */
  readonly maxBytes: number
}

const USER_AGENT = 'claimcheck-testkit'
/** Less than a host's, so that the kit's large bodies are too large for a digest, too. */
const MAX_DIGEST_BYTES = 40 * 1024 * 1024
const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

export function guardRequests(guard: Guard): GuardedRequests {
  const { baseUrl, proxy, grant, manifest, secrets, limits, signal, now, misused, resumed } = guard
  const origin = requireOrigin(baseUrl)
  const { requests: mostRequests = CEILING.requests, bodyBytes = CEILING.bodyBytes } = limits
  let requests = 0
  let readings = NO_READINGS
  let isTooLarge = false

  function refuse(name: string, problem: string): DestinationError {
    misused(name, problem)
    return new DestinationError('unavailable', { cause: new Error(`the request was not sent: ${problem}`) })
  }

  /** @param name of the kit's check that a breach belongs to */
  function told<T>(name: string, run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof BreachError) misused(name, `is refused: ${error.message}`, error)
      throw error
    }
  }

  function count(): void {
    if (++requests > mostRequests)
      throw refuse('requests.limits', `sends more than ${mostRequests} requests in a check`)
  }

  function checkUrl(text: string): URL {
    const granted = told('requests.hosts', grant)
    const url = parseUrl(text)
    if (url?.username !== '' || url.password !== '') {
      throw refuse('requests.origin', 'asks an address that is none, or that has credentials in it')
    }
    if (url.origin !== origin && !(granted === 'target' && isOwnWww(url.origin, origin)))
      throw refuse('requests.origin', `asks ${url.origin}, and its base address is ${origin}`)
    return url
  }

  /** @returns the body of a call; undefined for GET and HEAD */
  function bodyOf(url: URL, { method, call }: FetchInit): string | undefined {
    if (call === undefined) {
      if (method === undefined || method === 'GET' || method === 'HEAD') return undefined
      throw new BreachError(`a check may use GET and HEAD only, and not ${method}`)
    }
    if (method !== undefined) throw new BreachError('a call has no other method')
    const { pathname, search } = new URL(baseUrl)
    return callBody(call, manifest.methods, { path: url.pathname + url.search, basePath: pathname + search })
  }

  function checkHandles(url: URL, { headers = {} }: FetchInit): void {
    for (const value of [url.href, ...Object.values(headers)].map(String)) {
      if (![...secrets.keys()].some((one) => value.includes(one) || value.includes(encodeURIComponent(one)))) continue
      throw refuse('requests.handles', 'sends a handle of a secret: give it to `auth`, and the host puts the secret in')
    }
  }

  async function send(url: URL, { method = 'GET', headers, body, maxBytes }: Sent): Promise<Response> {
    count()
    const sentAt = now()
    const answer = await exchange(new URL(proxy), {
      method: body === undefined ? method : 'POST',
      path: url.pathname + url.search,
      headers: {
        'accept-encoding': 'gzip, deflate, br',
        ...Object.fromEntries(headers),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
        host: url.host,
      },
      body,
    })
    const response = toResponse(answer, { url, method, maxBytes })
    heard(response.headers, sentAt)
    resumed()
    return response
  }

  function heard(headers: Headers, sentAt: Instant): void {
    readings = mergeReadings(readings, readAnswer(headers, sentAt, now()))
  }

  function exchange(
    to: URL,
    {
      method,
      path,
      headers,
      body,
    }: { method: string; path: string; headers: Record<string, string>; body: string | undefined },
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(toDestinationError(error))
      try {
        const { hostname, port } = to
        // A connection for each request: none is open after the check.
        const outgoing = requestHttp({ hostname, port, method, path, headers, signal, agent: false }, resolve)
        outgoing.on('error', fail)
        outgoing.end(body)
      } catch (error) {
        fail(error)
      }
    })
  }

  function toResponse(
    answer: IncomingMessage,
    { url, method, maxBytes }: { readonly url: URL } & Pick<Sent, 'method' | 'maxBytes'>,
  ): Response {
    const status = answer.statusCode ?? 0
    const headers = new Headers()
    for (const [name, values] of Object.entries(answer.headersDistinct)) {
      for (const value of values ?? []) headers.append(name, value)
    }
    if (status < 200 || status > 599) {
      answer.destroy()
      throw new DestinationError('unexpected_response', { status })
    }
    const hasBody = method !== 'HEAD' && !NO_BODY.has(status) && answer.headers['content-length'] !== '0'
    if (!hasBody) answer.resume()
    const response = new Response(hasBody ? bounded(answer, status, maxBytes) : null, { status, headers })
    return Object.defineProperty(response, 'url', { value: url.href })
  }

  function bounded(answer: IncomingMessage, status: number, maxBytes: number): ReadableStream<Uint8Array> {
    const decoder = decoderFor(answer.headers['content-encoding'])
    const decoded = decoder ? answer.pipe(decoder) : answer
    if (decoder) answer.on('error', (error) => decoder.destroy(error))
    // An error before anybody reads is told to whoever reads then.
    for (const stream of [answer, decoded]) stream.on('error', () => {})
    const chunks = decoded[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    let size = 0
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const { done, value } = await chunks.next()
            resumed()
            if (done) return controller.close()
            size += value.length
            if (size > maxBytes) {
              isTooLarge = true
              answer.destroy()
              throw new DestinationError('too_large', { status })
            }
            controller.enqueue(new Uint8Array(value))
          } catch (error) {
            controller.error(toDestinationError(error))
          }
        },
        cancel() {
          answer.destroy()
        },
      },
      // Nothing is read of a body that nobody reads.
      { highWaterMark: 0 },
    )
  }

  function toDestinationError(error: unknown): DestinationError {
    if (isDestinationError(error)) return error
    return new DestinationError(signal.aborted ? 'timeout' : 'unavailable', { cause: error })
  }

  async function ask(text: string, init: FetchInit, maxBytes: number): Promise<Response> {
    const headers = told('requests.headers', () => requestHeaders({ ...init, userAgent: USER_AGENT }, secrets))
    let url = checkUrl(text)
    checkHandles(url, init)
    const body = told('requests.methods', () => bodyOf(url, init))
    for (let redirects = 0; ; redirects++) {
      const response = await send(url, { method: init.method, headers, body, maxBytes })
      const location = response.headers.get('location')
      if (!REDIRECTS.has(response.status) || location === null || init.redirect === 'manual') return response
      await response.body?.cancel()
      const next = parseUrl(location, url.href)
      // A call is declared for its path alone.
      if (
        next?.origin !== url.origin ||
        redirects === MAX_REDIRECTS ||
        requests === mostRequests ||
        body !== undefined
      ) {
        throw new DestinationError('unexpected_response', { status: response.status })
      }
      url = next
    }
  }

  return {
    fetch: (text, init = {}) => ask(text, init, bodyBytes),
    async digest(text, { algorithms, headers, ...init }) {
      const asked = { ...init, headers: told('requests.headers', () => digestHeaders(headers, algorithms)) }
      const response = await ask(text, asked, MAX_DIGEST_BYTES)
      return digestAnswer(response, { algorithms, createHash, maxDecodedBytes: bodyBytes })
    },
    readings: () => readings,
    inherit(others) {
      readings = mergeReadings(readings, others)
    },
    isTooLarge: () => isTooLarge,
    count,
    heard,
  }
}

function decoderFor(coding: string | undefined) {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  if (coding === 'br') return createBrotliDecompress()
  return undefined
}
