/** Lets a check open the connections and run the statements that its manifest declares. */
import { isDestinationError } from '../contract/destination-error.ts'
import type { ConnectInit, Login, Query, QueryAnswer, Socket } from '../contract/socket.ts'
import { requireOrigin, socketAddress } from './base-address.ts'
import type { RequestGuard, Transport } from './check-guard.ts'
import type { CheckUsage } from './check-usage.ts'
import { declaredToken, unboundSecrets } from './credentials.ts'
import { untilAborted } from './failures.ts'
import { NO_READINGS, readTime } from './readings.ts'
import { type AccessToken, isFresh, type TokenHost } from './schemes/scheme.ts'
import { socketGrant } from './sockets/grants.ts'
import { connectionRequest, type LoginValues, openSocket } from './sockets/open.ts'
import { MOST_QUERY_BYTES, queryRequest } from './sockets/query.ts'

const MAX_SOCKETS = 4

export function guardSockets<A>(
  guard: RequestGuard,
  {
    transport,
    usage,
    tokens,
  }: { readonly transport: Transport<A>; readonly usage: CheckUsage; readonly tokens: TokenHost | undefined },
) {
  const { connected, manifest, origin, now, timer } = guard
  const secrets = unboundSecrets(guard.secrets, connected)

  /** Admits and counts a connection. */
  function admitSocket(text: string, statement?: string) {
    const address = socketAddress(text)
    if (!address) throw usage.refuse('sockets', 'connects to what is no tls://host:port or tcp://host:port')
    if (address.hostname !== new URL(origin).hostname)
      throw usage.refuse('sockets', 'connects to another host than that of its base address')
    // Another port of the host may belong to somebody else: a workspace types a port, or leaves it to the manifest.
    const named = usage.under('hosts', () => usage.grant(requireOrigin(text)))
    const grant = usage.under('sockets', () => socketGrant(address, manifest, named === 'connection', statement))
    const admitted = transport.admitSocket(address, named === 'target')
    if (usage.count('sockets') > MAX_SOCKETS)
      throw usage.refuse('sockets', `opens more than ${MAX_SOCKETS} connections in a check`)
    return { address, admitted, grant }
  }

  /**
   * Logs in; by a stored access token that the destination refuses, once more with a new one.
   * @param readRequest throws a BreachError for what the manifest does not allow
   */
  async function withLogin<R, T>(
    { secret }: Partial<Pick<Login, 'secret'>>,
    readRequest: (values: LoginValues) => R,
    logIn: (request: R) => Promise<T>,
  ): Promise<T> {
    const requestBy = (values: LoginValues) => usage.under('sockets', () => readRequest(values))
    if (typeof secret !== 'object' || secret === null) return logIn(requestBy({ secrets }))
    // A token is not asked for where what it is for is refused.
    requestBy({ secrets, token: '' })
    const getToken = usage.under('credentials', () => declaredToken(secret, connected))
    const logInBy = async ({ accessToken }: AccessToken) => {
      usage.noteToken(accessToken)
      return logIn(requestBy({ secrets, token: accessToken }))
    }
    const nextToken = (refused?: AccessToken) => untilAborted(timer.signal, getToken(tokens!, refused))
    const token = await nextToken()
    try {
      return await logInBy(token)
    } catch (error) {
      if (!isDestinationError(error) || error.code !== 'unauthorized' || isFresh(token, now())) throw error
      return logInBy(await nextToken(token))
    }
  }

  return {
    async connect(text: string, { login }: ConnectInit = {}): Promise<Socket> {
      const { address, admitted, grant } = admitSocket(text)
      const isStartTls = grant.tls === 'starttls'
      const { secure } = transport
      const readRequest = (values: LoginValues) => connectionRequest(grant, login, values)
      return withLogin(login ?? {}, readRequest, (connection) =>
        usage.counted(async (_, id) => {
          const sentAt = now()
          // The number of what the next bytes answer, set while nothing has come since the last write. The host itself reads the greeting.
          let asked: number | undefined
          const socket = await openSocket({
            ...connection,
            dial: () => transport.dial({ ...address, isTls: address.isTls && !isStartTls }, admitted),
            secure: isStartTls && secure ? (plain) => secure(plain, address) : undefined,
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
            breached: (breach) => guard.refused('sockets', breach.message, breach),
          })
          return { result: socket, readings: { ...NO_READINGS, sentAt, isUndated: true } }
        }),
      )
    },
    async query(text: string, query: Query): Promise<QueryAnswer> {
      const { address, admitted, grant } = admitSocket(text, query.statement)
      const readRequest = (values: LoginValues) => queryRequest(grant, query, values)
      return withLogin(query.login ?? {}, readRequest, (asked) =>
        usage.counted(async () => {
          const maxBytes = Math.min(usage.most.bodyBytes, MOST_QUERY_BYTES)
          const received = (bytes: number) => usage.received(bytes, 'body')
          const sentAt = now()
          const bounds = { signal: timer.signal, now, maxBytes, received }
          const { clock, ...result } = await transport.query(address, admitted, { ...asked, ...bounds })
          return { result, readings: { ...readTime(clock, clock.askedAt, clock.answeredAt), sentAt } }
        }),
      )
    },
  }
}
