/** Carries what the rules of a check allow: requests through a fault proxy, connections through a socket proxy. */
import { createHash } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { createRequire } from 'node:module'
import { connect, Socket } from 'node:net'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { DestinationError } from '../contract/destination-error.ts'
import { isLiteral, isOwnWww, type SocketAddress, unbracketed } from '../hosting/base-address.ts'
import type { SendInit, Transport } from '../hosting/check-guard.ts'
import { type MysqlDriver, queryMysql } from '../hosting/databases/mysql.ts'
import { type PostgresDriver, queryPostgres } from '../hosting/databases/postgres.ts'
import { refusal, toDestinationError } from '../hosting/failures.ts'
import type { Dialed } from '../hosting/sockets/streams.ts'
import { parseUrl } from '../url.ts'
import type { FaultProxy } from './fault-proxy.ts'
import type { Note } from './watch.ts'

/** Hears of a connection. The function that it returns hears of the connection's error, or of none. */
export type OnSocket = (method: 'CONNECT' | 'QUERY', address: SocketAddress) => (error?: unknown) => void

interface TransportOptions {
  /** The proxy in front of the destination. */
  readonly proxy: FaultProxy
  /** The destination's origin. */
  readonly origin: string
  /** Port of the socket proxy on loopback; undefined where the destination takes no connections. */
  readonly socketPort: number | undefined
  /** Hears of each connection. Connections then lead to their own addresses. */
  readonly onSocket: OnSocket | undefined
  readonly signal: AbortSignal
  readonly note: Note
  /** Hears that code of the plugin goes on. */
  readonly resumed: () => void
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

export function kitTransport({
  proxy,
  origin,
  socketPort,
  onSocket,
  signal,
  note,
  resumed,
}: TransportOptions): Transport<unknown> & { isTooLarge(): boolean } {
  function heard(dialed: Dialed): Dialed {
    dialed.socket.once(dialed.connected, () => dialed.socket.on('data', resumed))
    return dialed
  }

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
      // An exchange that outlives its check is the host's: no plugin's request does.
      if (init.outlives && !isToken) {
        const { method, body = '' } = init
        proxy.expectExchange({ method, path: url.pathname + url.search, body: Buffer.from(body) })
      }
      const answer = await exchange(isToken ? url : new URL(proxy.url), url, init)
      const response = toResponse(answer, { url, ...init, maxBytes, signal, resumed, tooLarge })
      resumed()
      return response
    },
    ...(onSocket && { secure: (plain, address) => heard(overTls({ socket: plain as Socket, ...tlsOf(address) })) }),
    dial(address) {
      if (onSocket) {
        const to = { host: unbracketed(address.hostname), port: address.port }
        const dialed: Dialed = address.isTls
          ? overTls({ ...to, ...tlsOf(address) })
          : { socket: connect(to), connected: 'connect' }
        const ended = onSocket('CONNECT', address)
        dialed.socket.once(dialed.connected, () => ended())
        dialed.socket.once('error', ended)
        return heard(dialed)
      }
      // The proxy of sockets is on this machine, and takes no TLS.
      if (socketPort === undefined) throw new DestinationError('unavailable')
      return heard({ socket: connect({ host: '127.0.0.1', port: socketPort }), connected: 'connect' })
    },
    async query(address, _admitted, asked) {
      const at = onSocket
        ? {
            address: unbracketed(address.hostname),
            port: address.port,
            tls: address.isTls ? tlsOf(address) : undefined,
          }
        : { address: '127.0.0.1', port: socketPort, tls: undefined }
      if (at.port === undefined) throw new DestinationError('unavailable')
      const place = { ...at, port: at.port, createSocket: () => new Socket() }
      const ended = onSocket?.('QUERY', address)
      const asking =
        asked.protocol === 'mysql'
          ? importDriver('mysql2').then((mysql) => queryMysql(mysql as MysqlDriver, place, asked))
          : importDriver('pg').then((pg) => queryPostgres(pg as PostgresDriver, place, asked))
      const answer = await asking.catch((error: unknown) => {
        ended?.(error)
        throw error
      })
      ended?.()
      resumed()
      // The database's answer is timed by the machine's clock, which is not the kit's.
      const ahead = asked.now() - Date.now()
      const { clock, now } = answer
      return { ...answer, now: now + ahead, clock: { ...clock, at: clock.at + ahead } }
    },
    isTooLarge: () => isTooLarge,
  }
}

function tlsOf({ hostname }: SocketAddress): ConnectionOptions {
  const host = unbracketed(hostname)
  return { host, servername: isLiteral(hostname) ? '' : hostname, rejectUnauthorized: true }
}

function overTls(options: ConnectionOptions): Dialed {
  return { socket: connectTls(options), connected: 'secureConnect' }
}

/** Imports a database driver of the plugin's own package, because the kit brings none. @throws Error that says what to install */
async function importDriver(name: string): Promise<unknown> {
  try {
    const { default: loaded } = await import(
      pathToFileURL(createRequire(join(process.cwd(), 'package.json')).resolve(name)).href
    )
    return loaded
  } catch (error) {
    throw new Error(`the kit reads this database by the package ${name}: npm install --save-dev ${name}`, {
      cause: error,
    })
  }
}

interface BodyLimits extends Pick<TransportOptions, 'signal' | 'resumed'>, Pick<SendInit, 'received'> {
  readonly maxBytes: number
  readonly tooLarge: () => void
}

function toResponse(
  answer: IncomingMessage,
  { url, method, ...limits }: BodyLimits & { readonly url: URL; readonly method: string },
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
  const response = new Response(hasBody ? limitedBody(answer, status, limits) : null, { status, headers })
  return Object.defineProperty(response, 'url', { value: url.href })
}

function limitedBody(
  answer: IncomingMessage,
  status: number,
  { maxBytes, signal, received, resumed, tooLarge }: BodyLimits,
): ReadableStream<Uint8Array> {
  const decoder = decoderFor(answer.headers['content-encoding'])
  const decoded = decoder ? answer.pipe(decoder) : answer
  if (decoder) answer.on('error', (error) => decoder.destroy(error))
  // An error that comes before the stream is read is not uncaught: the reader gets it.
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
