/** Opens a bounded TCP connection for a check that speaks another protocol than HTTP. */
import { connect as connectTcp, type LookupFunction, type Socket as NodeSocket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { putSecrets, type SecretValues } from '@claimcheck/core/hosting'
import { DestinationError, type Socket } from '@claimcheck/core/plugin'
import { isLiteral, type SocketAddress, unbracketed } from '../base/base-address.ts'
import { refusal, toDestinationError } from './failures.ts'

export interface OpenSocketOptions {
  /** Finds addresses that may be reached. */
  readonly lookup: LookupFunction
  /** Certificates to trust, in place of the system's. PEM. */
  readonly ca: string | undefined
  /** Ends the connection. */
  readonly signal: AbortSignal
  /** More than this is not read. */
  readonly maxBytes: number
  /** By handle. */
  readonly secrets: SecretValues
}

const CONNECT_TIMEOUT_MS = 5000
/** Without a byte in either direction. */
const IDLE_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 1000
const BUFFERED_BYTES = 64 * 1024
/** Commands that read are short. */
const MAX_WRITTEN_BYTES = 64 * 1024

/** @throws DestinationError */
export async function openSocket(address: SocketAddress, options: OpenSocketOptions): Promise<Socket> {
  const { signal } = options
  if (signal.aborted) throw new DestinationError('timeout')
  const socket = dial(address, options)
  try {
    await connected(socket, address.isTls ? 'secureConnect' : 'connect', signal)
  } catch (error) {
    socket.destroy()
    throw toDestinationError(error, signal)
  }
  return toStreams(socket, options)
}

function dial({ hostname, port, isTls }: SocketAddress, { lookup, ca }: OpenSocketOptions): NodeSocket {
  const to = { host: unbracketed(hostname), port, lookup }
  if (!isTls) return connectTcp(to)
  return connectTls({
    ...to,
    servername: isLiteral(hostname) ? '' : hostname,
    // Also where the environment of the process turns it off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  })
}

function connected(socket: NodeSocket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const expire = () => end(() => reject(new DestinationError('timeout')))
    const timer = setTimeout(expire, CONNECT_TIMEOUT_MS)
    const succeed = () => end(resolve)
    const fail = (error?: Error) => end(() => reject(error ?? new Error('the connection was closed')))
    const end = (settle: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', expire)
      socket.off(event, succeed)
      settle()
    }
    signal.addEventListener('abort', expire)
    // The listener for errors stays: an error that nobody listens to would end the process.
    socket
      .once(event, succeed)
      .on('error', fail)
      .on('close', () => fail())
  })
}

function toStreams(socket: NodeSocket, { signal, maxBytes, secrets }: OpenSocketOptions): Socket {
  let readBytes = 0
  let writtenBytes = 0
  let isOver = false
  let failure: DestinationError | undefined
  let reader: ReadableStreamDefaultController<Uint8Array>
  let writer: WritableStreamDefaultController

  const expire = () => fail(new DestinationError('timeout'))

  /** Without an error the stream of what is read just ends. */
  function fail(error?: DestinationError): void {
    if (isOver) return
    isOver = true
    failure = error ?? refusal('the connection is closed')
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
      pull() {
        socket.resume()
      },
      cancel() {
        fail()
      },
    },
    { highWaterMark: BUFFERED_BYTES, size: (chunk) => chunk.byteLength },
  )
  const writable = new WritableStream<Uint8Array>(
    {
      start(controller) {
        writer = controller
      },
      write(chunk) {
        if (failure) throw failure
        const bytes = chunk.length > MAX_WRITTEN_BYTES ? chunk : putSecrets(chunk, secrets)
        writtenBytes += bytes.length
        if (!(writtenBytes <= MAX_WRITTEN_BYTES)) throw refusal(`a check may write ${MAX_WRITTEN_BYTES} bytes`)
        return new Promise((resolve, reject) => {
          socket.write(bytes, (error) => (error ? reject(failure ?? toDestinationError(error, signal)) : resolve()))
        })
      },
      close() {
        socket.end()
      },
      abort() {
        socket.destroy()
      },
    },
    { highWaterMark: 1 },
  )

  socket
    .setTimeout(IDLE_TIMEOUT_MS, expire)
    .on('error', (error) => fail(toDestinationError(error, signal)))
    .on('end', closeReader)
    .on('close', () => fail())
    .on('data', (chunk) => {
      if (isOver) return
      readBytes += chunk.length
      if (readBytes > maxBytes) return fail(new DestinationError('too_large'))
      // A copy: other connections share the memory behind the chunk.
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
      const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS)
      socket.destroySoon()
      await closed
      clearTimeout(timer)
    },
  }
}
