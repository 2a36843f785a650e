/** Begins a TCP connection for a check that speaks another protocol than HTTP. */
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { type Dialed, isLiteral, type SocketAddress, unbracketed } from '@claimcheck/core/hosting'

interface DialOptions {
  /** Finds addresses that may be reached. */
  readonly lookup: LookupFunction
  /** Certificates to trust, in place of the system's. PEM. */
  readonly ca: string | undefined
}

/** The longest time without a byte in either direction. */
const IDLE_TIMEOUT_MS = 10_000

export function dial(address: SocketAddress, { lookup, ca }: DialOptions): Dialed {
  const to = { host: unbracketed(address.hostname), port: address.port, lookup }
  if (address.isTls) return overTls({ ...to, ...tlsOptions(address.hostname, ca) })
  return { socket: connectTcp(to).setTimeout(IDLE_TIMEOUT_MS), connected: 'connect' }
}

/** Goes over to TLS. */
export function secure(plain: Socket, { hostname }: SocketAddress, ca: string | undefined): Dialed {
  // It sees no more bytes.
  plain.setTimeout(0)
  return overTls({ socket: plain, ...tlsOptions(hostname, ca) })
}

export function tlsOptions(hostname: string, ca: string | undefined): ConnectionOptions {
  return {
    servername: isLiteral(hostname) ? '' : hostname,
    // Which TLS verifies where there is no such name. Without either it takes a certificate of `localhost`.
    host: unbracketed(hostname),
    // Also where the environment of the process turns it off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  }
}

function overTls(options: ConnectionOptions): Dialed {
  const socket = connectTls(options).setTimeout(IDLE_TIMEOUT_MS)
  // The handshake does not use up the time.
  socket.once('secureConnect', () => socket.setTimeout(IDLE_TIMEOUT_MS))
  return { socket, connected: 'secureConnect' }
}
