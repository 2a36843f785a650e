/** The requests of one check as a host guards them: one origin, declared methods, bounded time and size, credentials put in. */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { authHeader, type SecretValues } from '../contract/auth.ts'
import { DestinationError, isDestinationError } from '../contract/destination-error.ts'
import type { Manifest } from '../contract/plugin.ts'
import { CEILING, type CheckLimits, type FetchInit, type GuardedFetch } from '../contract/verifier.ts'
import type { Instant } from '../evidence.ts'
import { mergeReadings, NO_READINGS, type Readings, readAnswer } from './readings.ts'

export interface Guard {
  /** The origin that the plugin may ask. */
  readonly origin: string
  /** Where its requests go. */
  readonly proxy: string
  readonly manifest: Manifest
  readonly secrets: SecretValues
  readonly limits: CheckLimits
  readonly signal: AbortSignal
  readonly now: () => Instant
  /** Told of what the host refuses. @param name of the kit's check */
  readonly misused: (name: string, problem: string) => void
}

export interface GuardedRequests {
  readonly fetch: GuardedFetch
  readings(): Readings
  inherit(readings: Readings): void
  /** A body was larger than a check may read. */
  isTooLarge(): boolean
}

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

export function guardRequests(guard: Guard): GuardedRequests {
  const { origin, proxy, manifest, secrets, limits, signal, now, misused } = guard
  const { requests: mostRequests = CEILING.requests, bodyBytes = CEILING.bodyBytes } = limits
  let requests = 0
  let readings = NO_READINGS
  let isTooLarge = false

  function refuse(name: string, problem: string): DestinationError {
    misused(name, problem)
    return new DestinationError('unavailable', { cause: new Error(`the request was not sent: ${problem}`) })
  }

  function checkUrl(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url?.username !== '' || url.password !== '') {
      throw refuse('requests.origin', 'asks an address that is none, or that has credentials in it')
    }
    if (url.origin !== origin) throw refuse('requests.origin', `asks ${url.origin}, and its base address is ${origin}`)
    return url
  }

  function checkMethod({ method = 'GET', call }: FetchInit): void {
    if (call === undefined) {
      if (method !== 'GET' && method !== 'HEAD') throw refuse('requests.methods', `sends ${method}: use GET or HEAD`)
      return
    }
    const { jsonRpc = [], graphql = [] } = manifest.methods ?? {}
    const isDeclared = 'jsonRpc' in call ? jsonRpc.includes(call.jsonRpc) : graphql.includes(call.graphql)
    if (isDeclared) return
    const named = 'jsonRpc' in call ? call.jsonRpc : call.graphql
    throw refuse('requests.methods', `calls ${named}, which manifest.methods does not declare`)
  }

  async function send(url: URL, init: FetchInit): Promise<Response> {
    if (++requests > mostRequests)
      throw refuse('requests.limits', `sends more than ${mostRequests} requests in a check`)
    const { method = 'GET', headers = {}, auth, call } = init
    for (const value of [url.href, ...Object.values(headers)]) {
      if (
        [...secrets.keys()].some(
          (handle) => String(value).includes(handle) || value.includes(encodeURIComponent(handle)),
        )
      ) {
        throw refuse(
          'requests.handles',
          'sends a handle of a secret: give it to `auth`, and the host puts the secret in',
        )
      }
    }
    const body = call && Buffer.from(JSON.stringify(callBody(call)))
    const credential = auth ? authHeader(auth, secrets) : undefined
    const sent = {
      'user-agent': 'claimcheck-testkit',
      'accept-encoding': 'gzip, deflate, br',
      ...headers,
      ...(credential ? { [credential.name]: credential.value } : {}),
      ...(body ? { 'content-type': 'application/json', 'content-length': String(body.length) } : {}),
      host: url.host,
    }
    const sentAt = now()
    const answer = await exchange(new URL(proxy), {
      method: call ? 'POST' : method,
      path: url.pathname + url.search,
      headers: sent,
      body,
    })
    const response = toResponse(answer, url)
    readings = mergeReadings(readings, readAnswer(response.headers, sentAt, now()))
    return response
  }

  function exchange(
    to: URL,
    {
      method,
      path,
      headers,
      body,
    }: { method: string; path: string; headers: Record<string, string>; body: Buffer | undefined },
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

  function toResponse(answer: IncomingMessage, url: URL): Response {
    const status = answer.statusCode ?? 0
    const headers = new Headers()
    for (const [name, values] of Object.entries(answer.headersDistinct)) {
      for (const value of values ?? []) headers.append(name, value)
    }
    if (status < 200 || status > 599) {
      answer.destroy()
      throw new DestinationError('unexpected_response', { status })
    }
    const hasBody = !NO_BODY.has(status) && answer.headers['content-length'] !== '0'
    if (!hasBody) answer.resume()
    const response = new Response(hasBody ? bounded(answer, status) : null, { status, headers })
    return Object.defineProperty(response, 'url', { value: url.href })
  }

  function bounded(answer: IncomingMessage, status: number): ReadableStream<Uint8Array> {
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
            if (done) return controller.close()
            size += value.length
            if (size > bodyBytes) {
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

  return {
    async fetch(text, init = {}) {
      checkMethod(init)
      let url = checkUrl(text)
      for (let redirects = 0; ; redirects++) {
        const response = await send(url, init)
        const location = response.headers.get('location')
        if (!REDIRECTS.has(response.status) || location === null) return response
        await response.body?.cancel()
        const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
        if (next?.origin !== url.origin || redirects === MAX_REDIRECTS || requests === mostRequests) {
          throw new DestinationError('unexpected_response', { status: response.status })
        }
        url = next
      }
    },
    readings: () => readings,
    inherit(others) {
      readings = mergeReadings(readings, others)
    },
    isTooLarge: () => isTooLarge,
  }
}

function callBody(call: NonNullable<FetchInit['call']>): object {
  return 'jsonRpc' in call
    ? { jsonrpc: '2.0', id: 1, method: call.jsonRpc, params: call.params }
    : { query: call.graphql, variables: call.variables }
}

function decoderFor(coding: string | undefined) {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  if (coding === 'br') return createBrotliDecompress()
  return undefined
}
