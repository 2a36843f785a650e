/** Holds a driver's connection to the bounds of a check, and reads its errors. */
import { DestinationError } from '../../contract/destination-error.ts'
import { MAX_ROWS } from '../../contract/socket.ts'
import { toDestinationError } from '../failures.ts'
import type { QueryResult, SecretQuery } from '../sockets/query.ts'

/** The address of a database, as a host reaches it. */
export interface DatabaseAddress {
  /** An IP address, which nothing looks up again. */
  readonly address: string
  readonly port: number
  /** Options of `node:tls`, in which `servername` is the name to verify; undefined to connect without TLS. */
  readonly tls: { readonly servername?: string | undefined } | undefined
  /** Makes a socket that is not connected yet. */
  readonly createSocket: () => DriverSocket
}

/** The used part of a socket of `node:net`. */
export interface DriverSocket {
  readonly bytesRead: number
  readonly destroyed: boolean
  connect(port: number, host: string): unknown
  destroy(error?: Error): unknown
  once(event: string, listener: (value?: unknown) => void): unknown
}

/** Time limit that the database itself keeps, so that it does not go on with what nobody waits for. */
export const STATEMENT_TIMEOUT_MS = 10_000
const WATCH_MS = 10

/** An error of a database without its words, which may have values of rows, such as those that a policy cannot read. */
function causeOf(error: unknown): unknown {
  const { code, errno, sqlState } = error as Readonly<Record<'code' | 'errno' | 'sqlState', unknown>>
  const state = sqlState ?? code
  if (typeof state !== 'string' || !/^[0-9A-Z]{5}$/.test(state)) return error
  return new Error(`the database refused: SQLSTATE ${state}${typeof errno === 'number' ? `, error ${errno}` : ''}`)
}

/**
 * Runs a driver on a socket, which ends with the check, or with more bytes than the check may read.
 * @param codeOf the meaning of an error of the driver; undefined if the connection failed
 * @throws DestinationError
 */
export async function runBounded(
  socket: DriverSocket,
  { signal, maxBytes, received }: Pick<SecretQuery, 'signal' | 'maxBytes' | 'received'>,
  codeOf: (error: unknown) => DestinationError['code'] | undefined,
  run: () => Promise<QueryResult>,
): Promise<QueryResult> {
  if (signal.aborted) throw new DestinationError('timeout')
  let ended: DestinationError | undefined
  const end = (code: DestinationError['code']) => {
    ended ??= new DestinationError(code)
    // The socket is destroyed without the error, because drivers change what they get.
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
    // Drivers do not always settle when a connection ends.
    const result = await Promise.race([run(), stopped]).finally(() => received(socket.bytesRead))
    if (result.rows.length > MAX_ROWS || socket.bytesRead > maxBytes) throw new DestinationError('too_large')
    return result
  } catch (error) {
    if (ended) throw ended
    const code = codeOf(error)
    throw code === undefined ? toDestinationError(error, signal) : new DestinationError(code, { cause: causeOf(error) })
  } finally {
    clearTimeout(idle)
    clearInterval(watch)
    signal.removeEventListener('abort', expire)
    socket.destroy()
  }
}
