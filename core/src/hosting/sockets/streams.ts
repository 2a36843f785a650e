/** Limits the size and the time of a check's connection that does not speak HTTP. */
import { DestinationError } from '../../contract/destination-error.ts'
import type { Socket } from '../../contract/socket.ts'
import { refusal, toDestinationError } from '../failures.ts'

/** The used part of a socket of `node:net` or `node:tls`. */
export interface RawSocket {
  readonly closed: boolean
  on(event: string, listener: (value?: unknown) => void): unknown
  once(event: string, listener: (value?: unknown) => void): unknown
  off(event: string, listener: (value?: unknown) => void): unknown
  write(bytes: Uint8Array, done: (error?: Error | null) => void): unknown
  end(): unknown
  pause(): unknown
  resume(): unknown
  destroy(error?: Error): unknown
  destroySoon(): unknown
}

/** A socket that began to connect. */
export interface Dialed {
  readonly socket: RawSocket
  /** The event that tells that the socket is connected. */
  readonly connected: 'connect' | 'secureConnect'
}

/** A connection before the plugin gets it. */
export interface RawConnection extends Socket {
  readonly socket: RawSocket
  /** Tells whether bytes came that were not read yet. */
  hasUnread(): boolean
}

/** Says when bytes that came may be passed on. @returns undefined for at once */
export type Pace = (bytes: number) => Promise<void> | undefined

export interface SocketBounds {
  /** Ends the connection when it is aborted. */
  readonly signal: AbortSignal
  /** Limit of the bytes that are read from the connection. */
  readonly maxBytes: number
}

const CONNECT_TIMEOUT_MS = 5000
const CLOSE_TIMEOUT_MS = 1000
const BUFFERED_BYTES = 64 * 1024

/**
 * Opens a connection, and reads it as streams within bounds.
 * @param dial begins to connect
 * @throws DestinationError where it does not connect in time
 */
export async function openRaw(dial: () => Dialed, bounds: SocketBounds): Promise<RawConnection> {
  const { signal } = bounds
  if (signal.aborted) throw new DestinationError('timeout')
  const { socket, connected } = dial()
  try {
    await untilConnected(socket, connected, signal)
  } catch (error) {
    socket.destroy()
    throw toDestinationError(error, signal)
  }
  return toStreams(socket, bounds)
}

function untilConnected(socket: RawSocket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const expire = () => end(() => reject(new DestinationError('timeout')))
    const timer = setTimeout(expire, CONNECT_TIMEOUT_MS)
    const succeed = () => end(resolve)
    const fail = (error?: unknown) => end(() => reject(error ?? new Error('the connection was closed')))
    const end = (settle: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', expire)
      socket.off(event, succeed)
      settle()
    }
    signal.addEventListener('abort', expire)
    socket.once(event, succeed)
    // The listener for errors stays, because an error that nothing listens to would end the process.
    socket.on('error', fail)
    socket.on('close', () => fail())
  })
}

function toStreams(socket: RawSocket, { signal, maxBytes }: SocketBounds): RawConnection {
  let readBytes = 0
  let failure: DestinationError | undefined
  let reader: ReadableStreamDefaultController<Uint8Array>
  let writer: WritableStreamDefaultController

  const expire = () => fail(new DestinationError('timeout'))

  /** Ends both streams. Without an error, the readable one just ends. */
  function fail(error?: DestinationError): void {
    if (failure) return
    failure = error ?? refusal('the connection is closed')
    signal.removeEventListener('abort', expire)
    if (error) reader.error(error)
    else closeReader()
    writer.error(failure)
    socket.destroy()
  }

  function closeReader(): void {
    // `close` throws when the stream is closed, or when nothing reads it any more.
    try {
      reader.close()
    } catch {}
  }

  function receive(chunk: Uint8Array): void {
    if (failure) return
    readBytes += chunk.length
    if (readBytes > maxBytes) {
      fail(new DestinationError('too_large'))
      return
    }
    // The chunk is copied, because other connections share the memory behind it.
    reader.enqueue(new Uint8Array(chunk))
    if ((reader.desiredSize ?? 0) <= 0) socket.pause()
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
      return new Promise((resolve, reject) => {
        socket.write(chunk, (error) => (error ? reject(failure ?? toDestinationError(error, signal)) : resolve()))
      })
    },
    close: () => void socket.end(),
    abort: () => void socket.destroy(),
  })

  socket.on('timeout', expire)
  socket.on('error', (error) => fail(toDestinationError(error, signal)))
  socket.on('end', closeReader)
  socket.on('close', () => fail())
  socket.on('data', (chunk) => receive(chunk as Uint8Array))
  signal.addEventListener('abort', expire)
  if (signal.aborted) expire()

  return {
    socket,
    readable,
    writable,
    hasUnread: () => reader.desiredSize !== BUFFERED_BYTES,
    close: () => closeSocket(socket),
  }
}

async function closeSocket(socket: RawSocket): Promise<void> {
  if (socket.closed) return
  const isClosed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS)
  socket.destroySoon()
  await isClosed
  clearTimeout(timer)
}
