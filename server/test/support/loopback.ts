/** Servers on loopback for tests of outgoing requests, and certificates for them. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { CommandGrant } from '@claimcheck/core/hosting'
import { DestinationError } from '@claimcheck/core/plugin'
import { type CheckGuard, createOutbound } from '@claimcheck/server/outbound/outbound'
import type { Test } from 'tap'

/** @returns `127.0.0.1:port` */
export async function listen(t: Test, server: Server): Promise<string> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function serve(t: Test, listener: RequestListener): Promise<string> {
  return listen(t, createServer(listener))
}

/** A server of a protocol of its own. */
export function serveSockets(t: Test, listener: (socket: Socket) => void): Promise<string> {
  return listen(t, createTcpServer(listener))
}

/** The same with TLS. */
export function serveTls(t: Test, listener: (socket: Socket) => void, identity = INNER): Promise<string> {
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => {})
    listener(socket)
  })
  server.on('tlsClientError', () => {})
  return listen(t, server)
}

export type Resolver = NonNullable<NonNullable<Parameters<typeof createOutbound>[1]>['resolver']>

export const resolveTo =
  (...addresses: string[]): Resolver =>
  (_hostname, _options, done) => {
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }

/** A port at which a plugin may read a mailbox. */
export function mailboxAt(port: number, tls: boolean): CommandGrant {
  return { port, tls, protocol: 'imap', commands: ['EXAMINE', 'NOOP', 'LOGOUT'] }
}

/** Greets as IMAP does, and goes on with the connection. */
export function greeting(serve: (socket: Socket) => void = () => {}): (socket: Socket) => void {
  return (socket) => {
    socket.write('* OK ready\r\n')
    serve(socket)
  }
}

/** What a check through a connection may do whose manifest allows any. */
export function guardOf(origin: string, over: Partial<CheckGuard> = {}): CheckGuard {
  return {
    timer: new AbortController(),
    now: Date.now,
    origin,
    connected: { id: 'conn_1', options: { url: origin } },
    reach: { hosts: ['connection.url'], mayReveal: false },
    secrets: new Map(),
    ...over,
  }
}

export function outboundTo(t: Test, allowPrivate: string[], options: Parameters<typeof createOutbound>[1] = {}) {
  const outbound = createOutbound({ allowPrivate }, options)
  t.teardown(() => outbound.close())
  return outbound
}

/** The code of the error, or the name of one that is the plugin's fault. */
export async function code(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'no error'
  } catch (error) {
    if (error instanceof DestinationError) return error.code
    if ((error as Error).name === 'BreachError') return 'breach'
    throw error
  }
}

// Made for these tests.
export const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBmTCCAT+gAwIBAgIUCBWj+4hphgXBbY0SxVFeh57ddvowCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMTc1NTU3WhgPMjEy
NjEwMjkxNzU1NTdaMBkxFzAVBgNVBAMMDnRlc3QgYXV0aG9yaXR5MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEnK9Msh2Bn12gLsFmX1NuGcnYuFRxwnxp9pQKDYQ1
wDILj/zNTJRefWFDZlvS9TAGK6UdXeBsy6jRxIwS7GJSXaNjMGEwHQYDVR0OBBYE
FMc9aVGDc75RG6pwJ7AdOs+7KoD7MB8GA1UdIwQYMBaAFMc9aVGDc75RG6pwJ7Ad
Os+7KoD7MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49
BAMCA0gAMEUCIQDVI+LN3WVyrq3f7n9GuqnI12VP56gB48p6QAzN+YtkTgIgY1W3
T7yMpm8y706xainF3L+PCyHzTjXmYn+ZbOI3qsM=
-----END CERTIFICATE-----`
/** Of `inner.example` and 127.0.0.1. */
export const INNER = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgonwyan7EL5sDjTK/
A1bcarF1+mIETcwuPTlalTsTRsyhRANCAARZQ6jg44eVL+pMga7wtODbJqWDPABV
pQGK6jd6SjeepAySNdrgzZ1rcKR+S3hy+asS4ZvytfZwv5+2a2Tz+0Ob
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBlzCCAT2gAwIBAgIUWbaBPyrJ+iZhJq2Vy03zWhJMBlwwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMTc1NTU3WhgPMjEy
NjEwMjkxNzU1NTdaMBgxFjAUBgNVBAMMDWlubmVyLmV4YW1wbGUwWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAARZQ6jg44eVL+pMga7wtODbJqWDPABVpQGK6jd6Sjee
pAySNdrgzZ1rcKR+S3hy+asS4ZvytfZwv5+2a2Tz+0Obo2IwYDAeBgNVHREEFzAV
gg1pbm5lci5leGFtcGxlhwR/AAABMB0GA1UdDgQWBBTqU4E+R4I+yK20uIhURTKB
kFCPcjAfBgNVHSMEGDAWgBTHPWlRg3O+URuqcCewHTrPuyqA+zAKBggqhkjOPQQD
AgNIADBFAiBsOndMHhsQ3kGc/dvKCMIVBECAtP1enJRu4FKHI16LQAIhAPh4Q+xy
COzxoQtDk+Nq7ILyRJDfse3+HK1MgYQDYvsQ
-----END CERTIFICATE-----`,
}
/** Of `other.example`. */
export const OTHER = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXVJzE3pqRNxVOSYh
n/utg75wNf/x3l6TZ68HT2fWqoWhRANCAATVuVjPNOxOkLdS9Q/CKA4vReaIlV7Z
dFo/X6M5FIqPzj4JjBv+eojhMAjE+mkS5MfdNw+xMMFmZdsZY1t1iATE
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBkTCCATegAwIBAgIUWbaBPyrJ+iZhJq2Vy03zWhJMBl0wCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMTc1NTU3WhgPMjEy
NjEwMjkxNzU1NTdaMBgxFjAUBgNVBAMMDW90aGVyLmV4YW1wbGUwWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAATVuVjPNOxOkLdS9Q/CKA4vReaIlV7ZdFo/X6M5FIqP
zj4JjBv+eojhMAjE+mkS5MfdNw+xMMFmZdsZY1t1iATEo1wwWjAYBgNVHREEETAP
gg1vdGhlci5leGFtcGxlMB0GA1UdDgQWBBQvTt1tUUVk2Jl51FYTjQhljKo8yjAf
BgNVHSMEGDAWgBTHPWlRg3O+URuqcCewHTrPuyqA+zAKBggqhkjOPQQDAgNIADBF
AiBEy74Yr5IKrmvURdLIye8E9wI1t4wEUx1wcfgLVDU//gIhAIoOm7R33Ti8slJo
LqPzGV93aYE5dXwSfGPEBlnkh0Ph
-----END CERTIFICATE-----`,
}
/** Of `localhost`, signed by itself. */
export const LOCALHOST = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiEP1CWLmB/bHlLV+
gks05iH8v/fL367lil76MQGjNUyhRANCAAToUtC8wNoqq1CKG1IdeS631RP96Oo0
O64op878fSbs0+/VNzavx04EYFBmWLA4X7KYXapBoybYmZVfS18dtNIi
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUNnAqfugh+ADNxG98ArbxM4o//TIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNzA3NDgxM1oYDzIxMjYxMTAz
MDc0ODEzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAToUtC8wNoqq1CKG1IdeS631RP96Oo0O64op878fSbs0+/VNzavx04E
YFBmWLA4X7KYXapBoybYmZVfS18dtNIio2kwZzAdBgNVHQ4EFgQUy5shSjcYsMOb
J3SWkXm/ksjyDKkwHwYDVR0jBBgwFoAUy5shSjcYsMObJ3SWkXm/ksjyDKkwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIhAO0QIUiorlD6TOsttsg9QqSBORe18kG0ss8osWvNkcAMAiB3RabZ3k5Y
u5jKN8q1fJ5+bZi1ADkhu6zMxyDrjw1eTg==
-----END CERTIFICATE-----`,
}
