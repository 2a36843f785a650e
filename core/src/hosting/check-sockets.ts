/** Lets a check open the connections and run the statements that its manifest declares. */
import type { SecretValues } from '../contract/auth.ts'
import type { ConnectInit, Query, QueryAnswer, Socket, SocketGrant } from '../contract/socket.ts'
import { requireOrigin, socketAddress } from './base-address.ts'
import type { RequestGuard, Transport } from './check-guard.ts'
import type { CheckUsage } from './check-usage.ts'
import { unboundSecrets } from './credentials.ts'
import { NO_READINGS, readTime } from './readings.ts'
import { socketGrant } from './sockets/grants.ts'
import { connectionRequest, openSocket } from './sockets/open.ts'
import { MOST_QUERY_BYTES, queryRequest } from './sockets/query.ts'

const MAX_SOCKETS = 4

export function guardSockets<A>(guard: RequestGuard, transport: Transport<A>, usage: CheckUsage) {
  const { secrets, connected, manifest, origin, now, timer } = guard

  /** Admits and counts a connection. @param read reads what the check asks, by the grant for its address */
  function admitSocket<T>(text: string, read: (grant: SocketGrant, unbound: SecretValues) => T) {
    const address = socketAddress(text)
    if (!address) throw usage.refuse('sockets', 'connects to what is no tls://host:port or tcp://host:port')
    if (address.hostname !== new URL(origin).hostname)
      throw usage.refuse('sockets', 'connects to another host than that of its base address')
    // Another port of the host may belong to somebody else: a workspace types a port, or leaves it to the manifest.
    const named = usage.under('hosts', () => usage.grant(requireOrigin(text)))
    const grant = usage.under('sockets', () => socketGrant(address, manifest, named === 'connection'))
    const admitted = transport.admitSocket(address, named === 'target')
    const asked = usage.under('sockets', () => read(grant, unboundSecrets(secrets, connected)))
    if (usage.count('sockets') > MAX_SOCKETS)
      throw usage.refuse('sockets', `opens more than ${MAX_SOCKETS} connections in a check`)
    return { address, admitted, grant, asked }
  }

  return {
    async connect(text: string, { login }: ConnectInit = {}): Promise<Socket> {
      const {
        address,
        admitted,
        grant,
        asked: connection,
      } = admitSocket(text, (grant, unbound) => connectionRequest(grant, login, unbound))
      const isStartTls = grant.tls === 'starttls'
      const { secure } = transport
      return usage.counted(async (_, id) => {
        const sentAt = now()
        // The number of what the next bytes answer, set while nothing has come since the last write or the opening. The host itself reads the
        // greeting of a protocol that it speaks.
        let asked: number | undefined = grant.protocol === 'custom' ? id : undefined
        const socket = await openSocket({
          ...connection,
          dial: () => transport.dial({ ...address, isTls: address.isTls && !isStartTls }, admitted),
          secure: isStartTls && secure ? (plain) => secure(plain, address) : undefined,
          now,
          signal: timer.signal,
          maxBytes: usage.most.bodyBytes,
          received(bytes) {
            if (asked !== undefined) usage.answered(id, asked)
            asked = undefined
            return usage.received(bytes, 'body')
          },
          written() {
            asked = usage.begin()
          },
          onTime: (...read) => usage.read(readTime(...read)),
          breached: (breach) => guard.refused('sockets', breach.message, breach),
        })
        // A connection that may still tell the clock is not undated yet.
        const isUndated = connection.grant.clock === undefined
        return { result: socket, readings: { ...NO_READINGS, sentAt, isUndated }, isSilent: asked !== undefined }
      })
    },
    async query(text: string, query: Query): Promise<QueryAnswer> {
      const { address, admitted, asked } = admitSocket(text, (grant, unbound) => queryRequest(grant, query, unbound))
      return usage.counted(async () => {
        const maxBytes = Math.min(usage.most.bodyBytes, MOST_QUERY_BYTES)
        const received = (bytes: number) => usage.received(bytes, 'body')
        const sentAt = now()
        const bounds = { signal: timer.signal, now, maxBytes, received }
        const { clock, ...result } = await transport.query(address, admitted, { ...asked, ...bounds })
        return { result, readings: { ...readTime(clock, clock.askedAt, clock.answeredAt), sentAt } }
      })
    },
  }
}
