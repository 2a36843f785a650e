/** The connections of one check as a host guards them: to declared ports of one host, bounded in size, secrets put in for their handles. */
import { connect, type Socket as NodeSocket } from 'node:net'
import type { SecretValues } from '../contract/auth.ts'
import { DestinationError, isDestinationError } from '../contract/destination-error.ts'
import { CEILING } from '../contract/fetch.ts'
import type { Socket } from '../contract/verifier.ts'
import { requireOrigin, socketAddress } from '../hosting/base-address.ts'
import { BreachError } from '../hosting/breach.ts'
import { putSecrets } from '../hosting/put-secrets.ts'
import type { Guard, GuardedRequests } from './guarded-fetch.ts'

const MAX_SOCKETS = 4
const MAX_WRITTEN_BYTES = 64 * 1024
const BUFFERED_BYTES = 64 * 1024

/** @param port of the proxy, on loopback; undefined where the destination takes no connections */
export function guardSockets(guard: Guard, { count, heard }: GuardedRequests, port: number | undefined) {
  const { baseUrl, grant, manifest, limits, signal, secrets, now, misused, resumed } = guard
  const { bodyBytes = CEILING.bodyBytes } = limits
  const origin = requireOrigin(baseUrl)
  const { hostname } = socketAddress(origin) ?? new URL(origin)
  let sockets = 0

  function refuse(problem: string): DestinationError {
    misused('requests.sockets', problem)
    return new DestinationError('unavailable', { cause: new Error(`the connection was not made: ${problem}`) })
  }

  return async (text: string): Promise<Socket> => {
    const address = socketAddress(text)
    if (!address) throw refuse('connects to what is no tls://host:port or tcp://host:port')
    try {
      grant()
    } catch (error) {
      misused('requests.hosts', `is refused: ${(error as Error).message}`, error as BreachError)
      throw error
    }
    if (address.hostname !== hostname) throw refuse('connects to another host than that of its base address')
    const { port: asked, isTls } = address
    if (!manifest.sockets?.some((declared) => declared.port === asked && declared.tls === isTls)) {
      const problem = `connects to port ${asked} ${isTls ? 'with' : 'without'} TLS, which manifest.sockets does not declare`
      const error = new BreachError(problem)
      misused('requests.sockets', problem, error)
      throw error
    }
    if (++sockets > MAX_SOCKETS) throw refuse(`opens more than ${MAX_SOCKETS} connections in a check`)
    count()
    if (port === undefined) throw new DestinationError('unavailable')
    const sentAt = now()
    const socket = await opened(port, signal)
    heard(new Headers(), sentAt)
    resumed()
    return toStreams(socket, { signal, maxBytes: bodyBytes, secrets, resumed })
  }
}

function opened(port: number, signal: AbortSignal): Promise<NodeSocket> {
  if (signal.aborted) throw new DestinationError('timeout')
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port })
    const abort = () => fail(new DestinationError('timeout'))
    const fail = (error: unknown) => {
      socket.destroy()
      reject(toDestinationError(error, signal))
    }
    signal.addEventListener('abort', abort)
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort)
      socket.off('error', fail)
      resolve(socket)
    })
    socket.on('error', fail)
  })
}

interface Bounds {
  readonly signal: AbortSignal
  readonly maxBytes: number
  readonly secrets: SecretValues
  readonly resumed: () => void
}

function toStreams(socket: NodeSocket, { signal, maxBytes, secrets, resumed }: Bounds): Socket {
  let [readBytes, writtenBytes] = [0, 0]
  let isOver = false
  let failure: DestinationError | undefined
  let reader: ReadableStreamDefaultController<Uint8Array>
  let writer: WritableStreamDefaultController
  const expire = () => fail(new DestinationError('timeout'))

  /** Without an error the stream of what is read just ends. */
  function fail(error?: DestinationError): void {
    if (isOver) return
    isOver = true
    failure = error ?? new DestinationError('unavailable', { cause: new Error('the connection is closed') })
    signal.removeEventListener('abort', expire)
    if (error) reader.error(error)
    else closeReader()
    writer.error(failure)
    socket.destroy()
  }

  function closeReader(): void {
    // Throws when it is closed, or when nobody reads any more.
    try {
      reader.close()
    } catch {}
  }

  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        reader = controller
      },
      pull: () => void socket.resume(),
      cancel: () => fail(),
    },
    { highWaterMark: BUFFERED_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      writer = controller
    },
    write(chunk) {
      if (failure) throw failure
      const bytes = putSecrets(chunk, secrets)
      writtenBytes += bytes.length
      if (writtenBytes > MAX_WRITTEN_BYTES) throw new DestinationError('unavailable')
      return new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(failure ?? toDestinationError(error, signal)) : resolve()))
      })
    },
    close: () => void socket.end(),
    abort: () => void socket.destroy(),
  })
  socket
    .on('error', (error) => fail(toDestinationError(error, signal)))
    .on('end', closeReader)
    .on('close', () => fail())
    .on('data', (chunk) => {
      if (isOver) return
      resumed()
      readBytes += chunk.length
      if (readBytes > maxBytes) return fail(new DestinationError('too_large'))
      reader.enqueue(new Uint8Array(chunk))
      if ((reader.desiredSize ?? 0) <= 0) socket.pause()
    })
  signal.addEventListener('abort', expire)
  if (signal.aborted) expire()

  return {
    readable,
    writable,
    async close() {
      if (socket.closed) return
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      const timer = setTimeout(() => socket.destroy(), 1000)
      socket.destroySoon()
      await closed
      clearTimeout(timer)
    },
  }
}

function toDestinationError(error: unknown, signal: AbortSignal): DestinationError {
  if (isDestinationError(error)) return error
  return new DestinationError(signal.aborted ? 'timeout' : 'unavailable', { cause: error })
}
