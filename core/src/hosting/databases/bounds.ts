/** Holds a driver's connection to the bounds of a check, and reads its errors. */
import { DestinationError } from '../../contract/destination-error.ts'
import { MAX_ROWS } from '../../contract/socket.ts'
import { toDestinationError } from '../failures.ts'
import type { QueryResult, SecretQuery } from '../sockets/query.ts'

/** How a host reaches a database. */
export interface DatabaseAddress {
  /** An IP address, which nothing looks up again. */
  readonly address: string
  readonly port: number
  /** What TLS verifies, options of `node:tls` in which `servername` is the name; undefined: without TLS. */
  readonly tls: { readonly servername?: string | undefined } | undefined
  /** Makes a socket that is not connected yet. */
  readonly createSocket: () => DriverSocket
}

/** What is used of a socket of `node:net`. */
export interface DriverSocket {
  readonly bytesRead: number
  readonly destroyed: boolean
  connect(port: number, host: string): unknown
  destroy(error?: Error): unknown
  once(event: string, listener: (value?: unknown) => void): unknown
}

/** Of the database itself, so that it does not go on with what nobody waits for. */
export const STATEMENT_TIMEOUT_MS = 10_000
const WATCH_MS = 10

/**
 * Runs a driver on a socket, which ends with the check, or with more bytes than the check may read.
 * @param codeOf what an error of the driver means; undefined: the connection failed
 * @throws DestinationError
 */
export async function bounded(
  socket: DriverSocket,
  { signal, maxBytes, received }: Pick<SecretQuery, 'signal' | 'maxBytes' | 'received'>,
  codeOf: (error: unknown) => DestinationError['code'] | undefined,
  run: () => Promise<QueryResult>,
): Promise<QueryResult> {
  if (signal.aborted) throw new DestinationError('timeout')
  let ended: DestinationError | undefined
  const end = (code: DestinationError['code']) => {
    ended ??= new DestinationError(code)
    // Without the error: drivers change what they get.
    socket.destroy()
  }
  const expire = () => end('timeout')
  signal.addEventListener('abort', expire)
  const idle = setTimeout(expire, STATEMENT_TIMEOUT_MS)
  const watch = setInterval(() => socket.bytesRead > maxBytes && end('too_large'), WATCH_MS)
  const stopped = new Promise<never>((_, reject) => {
    socket.once('close', () => reject(ended ?? new DestinationError('unavailable')))
  })
  stopped.catch(() => {})
  try {
    // Drivers do not settle in each case where a connection ends.
    const result = await Promise.race([run(), stopped]).finally(() => received(socket.bytesRead))
    if (result.rows.length > MAX_ROWS || socket.bytesRead > maxBytes) throw new DestinationError('too_large')
    return result
  } catch (error) {
    if (ended) throw ended
    const code = codeOf(error)
    throw code === undefined ? toDestinationError(error, signal) : new DestinationError(code, { cause: error })
  } finally {
    clearTimeout(idle)
    clearInterval(watch)
    signal.removeEventListener('abort', expire)
    socket.destroy()
  }
}
