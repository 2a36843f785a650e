/** Begins a TCP connection for a check that speaks another protocol than HTTP. */
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { type Dialed, isLiteral, type SocketAddress, unbracketed } from '@claimcheck/core/hosting'

interface DialOptions {
  /** Finds the addresses that a connection may reach. */
  readonly lookup: LookupFunction
  /** PEM certificates to trust, in place of the system's. */
  readonly ca: string | undefined
}

/** The longest time without a byte in either direction. */
const IDLE_TIMEOUT_MS = 10_000

export function dial(address: SocketAddress, { lookup, ca }: DialOptions): Dialed {
  const to = { host: unbracketed(address.hostname), port: address.port, lookup }
  if (address.isTls) return overTls({ ...to, ...tlsOptions(address.hostname, ca) })
  return { socket: connectTcp(to).setTimeout(IDLE_TIMEOUT_MS), connected: 'connect' }
}

/** Turns a plain connection into one with TLS. */
export function secure(plain: Socket, { hostname }: SocketAddress, ca: string | undefined): Dialed {
  // The plain socket sees no more bytes, so its idle time must not end it.
  plain.setTimeout(0)
  return overTls({ socket: plain, ...tlsOptions(hostname, ca) })
}

export function tlsOptions(hostname: string, ca: string | undefined): ConnectionOptions {
  return {
    servername: isLiteral(hostname) ? '' : hostname,
    // TLS verifies this host where there is no server name. Without either it takes a certificate of `localhost`.
    host: unbracketed(hostname),
    // Certificates are verified also where the environment of the process turns that off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  }
}

function overTls(options: ConnectionOptions): Dialed {
  const socket = connectTls(options).setTimeout(IDLE_TIMEOUT_MS)
  // Time that the handshake took does not count as idle.
  socket.once('secureConnect', () => socket.setTimeout(IDLE_TIMEOUT_MS))
  return { socket, connected: 'secureConnect' }
}
