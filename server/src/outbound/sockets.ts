/** Begins a TCP connection for a check that speaks another protocol than HTTP. */
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isLiteral, type SocketAddress, unbracketed } from '@claimcheck/core/hosting'

interface DialOptions {
  /** Finds addresses that may be reached. */
  readonly lookup: LookupFunction
  /** Certificates to trust, in place of the system's. PEM. */
  readonly ca: string | undefined
}

/** Without a byte in either direction. */
const IDLE_TIMEOUT_MS = 10_000

export function dial({ hostname, port, isTls }: SocketAddress, { lookup, ca }: DialOptions): Socket {
  const to = { host: unbracketed(hostname), port, lookup }
  if (!isTls) return connectTcp(to).setTimeout(IDLE_TIMEOUT_MS)
  const socket = connectTls({
    ...to,
    servername: isLiteral(hostname) ? '' : hostname,
    // Also where the environment of the process turns it off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  }).setTimeout(IDLE_TIMEOUT_MS)
  // The handshake does not use up the time.
  return socket.once('secureConnect', () => socket.setTimeout(IDLE_TIMEOUT_MS))
}
