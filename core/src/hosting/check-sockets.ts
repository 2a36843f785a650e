/** The connections and statements of one check. */
import type { Manifest } from '../contract/plugin.ts'
import type { ConnectInit, Query, QueryAnswer, Socket, SocketGrant } from '../contract/socket.ts'
import { requireOrigin, type SocketAddress, socketAddress } from './base-address.ts'
import { BreachError } from './breach.ts'
import type { RequestGuard, Transport } from './check-guard.ts'
import type { CheckUsage } from './check-usage.ts'
import { unboundSecrets } from './credentials.ts'
import { NO_READINGS, readTime } from './readings.ts'
import { connectionAsked, openSocket } from './sockets/open.ts'
import { MOST_QUERY_BYTES, queryAsked } from './sockets/query.ts'

const MAX_SOCKETS = 4

export class CheckSockets<A> {
  readonly #guard: RequestGuard
  readonly #transport: Transport<A>
  readonly #usage: CheckUsage

  constructor(guard: RequestGuard, transport: Transport<A>, usage: CheckUsage) {
    this.#guard = guard
    this.#transport = transport
    this.#usage = usage
  }

  async connect(text: string, { login }: ConnectInit = {}): Promise<Socket> {
    const { address, admitted, grant } = this.#admitSocket(text)
    const { secrets, connected, now, timer } = this.#guard
    const unbound = unboundSecrets(secrets, connected)
    const connection = this.#usage.under('sockets', () => connectionAsked(grant, login, unbound))
    this.#countSocket()
    const isStartTls = grant.tls === 'starttls'
    const { secure } = this.#transport
    return this.#usage.counted(async (_, id) => {
      const sentAt = now()
      // Since what was written last, or since it was opened, nothing came. The host itself read the greeting of a protocol that it speaks.
      let asked: number | undefined = grant.protocol === 'custom' ? id : undefined
      const socket = await openSocket({
        ...connection,
        dial: () => this.#transport.dial({ ...address, isTls: address.isTls && !isStartTls }, admitted),
        secure: isStartTls && secure ? (plain) => secure(plain, address) : undefined,
        now,
        signal: timer.signal,
        maxBytes: this.#usage.most.bodyBytes,
        received: (bytes) => {
          if (asked !== undefined) this.#usage.answered(id, asked)
          asked = undefined
          return this.#usage.received(bytes, 'body')
        },
        written: () => {
          asked = this.#usage.begin()
        },
        onTime: (...read) => this.#usage.read(readTime(...read)),
        breached: (breach) => this.#guard.refused('sockets', breach.message, breach),
      })
      // What may still tell the clock is not undated yet.
      const isUndated = connection.grant.clock === undefined
      return { result: socket, readings: { ...NO_READINGS, sentAt, isUndated }, isSilent: asked !== undefined }
    })
  }

  async query(text: string, query: Query): Promise<QueryAnswer> {
    const { address, admitted, grant } = this.#admitSocket(text)
    const { secrets, connected, now, timer } = this.#guard
    const unbound = unboundSecrets(secrets, connected)
    const asked = this.#usage.under('sockets', () => queryAsked(grant, query, unbound))
    this.#countSocket()
    return this.#usage.counted(async () => {
      const { signal } = timer
      const maxBytes = Math.min(this.#usage.most.bodyBytes, MOST_QUERY_BYTES)
      const bounds = { signal, now, maxBytes, received: (bytes: number) => this.#usage.received(bytes, 'body') }
      const sentAt = now()
      const { clock, ...result } = await this.#transport.query(address, admitted, { ...asked, ...bounds })
      const readings = { ...readTime(clock, clock.askedAt, clock.answeredAt), sentAt }
      return { result, readings }
    })
  }

  #admitSocket(text: string): { address: SocketAddress; admitted: A; grant: SocketGrant } {
    const { origin, manifest } = this.#guard
    const address = socketAddress(text)
    if (!address) throw this.#usage.refuse('sockets', 'connects to what is no tls://host:port or tcp://host:port')
    if (address.hostname !== new URL(origin).hostname)
      throw this.#usage.refuse('sockets', 'connects to another host than that of its base address')
    // Another port of the host may be another one's: what a workspace typed names a port, or leaves it to the manifest.
    const isPublicOnly = this.#usage.under('hosts', () => this.#usage.grant(requireOrigin(text))) === 'target'
    const grant = this.#usage.under('sockets', () => socketGrant(address, manifest))
    return { address, admitted: this.#transport.admitSocket(address, isPublicOnly), grant }
  }

  #countSocket(): void {
    if (this.#usage.count('sockets') > MAX_SOCKETS)
      throw this.#usage.refuse('sockets', `opens more than ${MAX_SOCKETS} connections in a check`)
  }
}

/** @throws BreachError */
function socketGrant({ port, isTls }: SocketAddress, { sockets = [] }: Pick<Manifest, 'sockets'>): SocketGrant {
  const grant = sockets.find((declared) => declared.port === port && (declared.tls !== false) === isTls)
  if (grant) return grant
  throw new BreachError(
    `the manifest of this plugin does not declare the port ${port} ${isTls ? 'with' : 'without'} TLS`,
  )
}
