/** How the kit makes what the rules of a check allow: requests through a fault proxy, connections through a socket proxy. */
import { createHash } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { isOwnWww } from '../hosting/base-address.ts'
import type { SendInit, Transport } from '../hosting/check-requests.ts'
import { refusal, toDestinationError } from '../hosting/failures.ts'
import { openSocket, type RawSocket } from '../hosting/socket-streams.ts'
import { parseUrl } from '../url.ts'
import type { Note } from './watch.ts'

export interface KitTransport extends Transport<unknown> {
  /** A body was larger than a check may read. */
  isTooLarge(): boolean
}

export interface TransportOptions {
  /** Where requests to the destination go. */
  readonly proxy: string
  /** Of the destination. */
  readonly origin: string
  /** Of the proxy of sockets, on loopback; undefined where the destination takes no connections. */
  readonly socketPort: number | undefined
  readonly secrets: SecretValues
  readonly signal: AbortSignal
  readonly note: Note
  /** Code of the plugin goes on. */
  readonly resumed: () => void
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

export function kitTransport({
  proxy,
  origin,
  socketPort,
  secrets,
  signal,
  note,
  resumed,
}: TransportOptions): KitTransport {
  let isTooLarge = false
  const tooLarge = () => {
    isTooLarge = true
  }

  return {
    createHash,
    admitUrl(text) {
      const url = parseUrl(text)
      if (url?.username === '' && url.password === '') return { url }
      const problem = 'asks an address that is none, or that has credentials in it'
      note('requests.origin', problem)
      throw refusal(problem)
    },
    admitSocket: () => undefined,
    lookUp: async () => '127.0.0.1',
    async send({ url }, init, maxBytes) {
      // The host asks token hosts where they are.
      const isToken = url.origin !== origin && !isOwnWww(url.origin, origin)
      const answer = await exchange(isToken ? url : new URL(proxy), url, init)
      const response = toResponse(answer, { url, ...init, maxBytes, signal, resumed, tooLarge })
      resumed()
      return response
    },
    async open(_address, _admitted, maxBytes) {
      if (socketPort === undefined) throw new DestinationError('unavailable')
      let raw: RawSocket | undefined
      const dial = () => {
        raw = connect({ host: '127.0.0.1', port: socketPort })
        return raw
      }
      const socket = await openSocket(dial, { connected: 'connect', signal, maxBytes, secrets })
      raw?.on('data', resumed)
      resumed()
      return socket
    },
    isTooLarge: () => isTooLarge,
  }
}

interface Bounds extends Pick<TransportOptions, 'signal' | 'resumed'>, Pick<SendInit, 'received'> {
  readonly maxBytes: number
  readonly tooLarge: () => void
}

interface Expected extends Bounds {
  readonly url: URL
  readonly method: string
}

function toResponse(answer: IncomingMessage, { url, method, ...bounds }: Expected): Response {
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
  const response = new Response(hasBody ? bounded(answer, status, bounds) : null, { status, headers })
  return Object.defineProperty(response, 'url', { value: url.href })
}

function bounded(
  answer: IncomingMessage,
  status: number,
  { maxBytes, signal, received, resumed, tooLarge }: Bounds,
): ReadableStream<Uint8Array> {
  const decoder = decoderFor(answer.headers['content-encoding'])
  const decoded = decoder ? answer.pipe(decoder) : answer
  if (decoder) answer.on('error', (error) => decoder.destroy(error))
  // The reader gets an error that comes before it reads.
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
            tooLarge()
            answer.destroy()
            throw new DestinationError('too_large', { status })
          }
          await received?.(value.length)
          controller.enqueue(new Uint8Array(value))
        } catch (error) {
          controller.error(toDestinationError(error, signal))
        }
      },
      cancel() {
        answer.destroy()
      },
    },
    // A body without a reader is not read.
    { highWaterMark: 0 },
  )
}

function exchange(
  { hostname, port, protocol }: URL,
  url: URL,
  { method, headers, body, signal }: SendInit,
): Promise<IncomingMessage> {
  const sent = { 'accept-encoding': 'gzip, deflate, br', ...Object.fromEntries(headers), host: url.host }
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const path = url.pathname + url.search
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(toDestinationError(error, signal))
    try {
      // A connection for each request: none is open after the check.
      const options = { hostname, port, method, path, headers: { ...sent, ...length }, signal, agent: false }
      const send = protocol === 'https:' ? requestHttps : requestHttp
      const outgoing = send(options, resolve)
      outgoing.on('error', fail)
      outgoing.end(body)
    } catch (error) {
      fail(error)
    }
  })
}

function decoderFor(coding: string | undefined) {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  if (coding === 'br') return createBrotliDecompress()
  return undefined
}
