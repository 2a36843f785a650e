/**
 * Bounds the cost of connections: their number, in all and from one address, the time in which a request has to arrive, and how long they delay the
 * end.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { ConnectionSettings } from '../config/limits.ts'
import type { App } from './instance.ts'
import { networkOf } from './network.ts'
import type { IsProxy } from './proxies.ts'

/** Time limits against slow senders, in milliseconds. */
export interface ArrivalTimes {
  /** The time within which a request must arrive completely. */
  readonly request: number
  /** The time within which the headers of a request must arrive. */
  readonly headers: number
  /** The pause between two looks at the arrival of requests and their headers. */
  readonly checkEvery: number
}

export const ARRIVAL_TIMES: ArrivalTimes = { request: 30_000, headers: 15_000, checkEvery: 2000 }

export interface BoundConnections extends ConnectionSettings {
  /** Recognises proxies, whose connections are those of many clients and have no limit. */
  readonly isProxy: IsProxy
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
  readonly meters: Meters
}

export function boundConnections(
  server: Server,
  { most, perAddress, isProxy, logger, meters }: BoundConnections,
): void {
  const open = new Map<string, number>()
  const refused = meters.counterOf(
    'connections_refused_total',
    'Connections refused beyond a limit: of all, or of one address',
    'limit',
    ['all', 'address'],
  )

  function refuse(limit: 'all' | 'address', fields: object): void {
    refused.inc(limit)
    logger.warn({ limit, ...fields }, 'too many connections: more are refused')
  }

  if (most > 0) server.maxConnections = most
  server.on('drop', () => refuse('all', { most }))
  if (perAddress === 0) return

  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    // Without an address the connection is over already.
    if (remoteAddress === undefined || isProxy(remoteAddress, 0)) return
    const network = networkOf(remoteAddress)
    const count = (open.get(network) ?? 0) + 1
    if (count > perAddress) {
      refuse('address', { network, perAddress })
      socket.destroy()
      return
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = open.get(network)! - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}

/** The longest waits of a closing server, in milliseconds: for requests that still arrive, and for answers. */
const LAST_WAITS = { arrivals: 3000, answers: 30_000 }

/**
 * Ends each connection with its answer while the server closes: a client that keeps sending requests would otherwise keep it open forever. So would
 * one that sends half a request, because Node no longer looks at arrival times then, and an answer that never ends.
 */
export function endConnectionsOnClose(app: App, waits = LAST_WAITS): void {
  const open = new Map<Socket, Set<IncomingMessage>>()
  app.server.on('connection', (socket) => {
    open.set(socket, new Set())
    socket.once('close', () => open.delete(socket))
  })
  app.server.on('request', (request, response) => {
    const unanswered = open.get(request.socket)
    unanswered?.add(request)
    response.once('close', () => unanswered?.delete(request))
  })

  function endUnlessAnswering(): void {
    for (const [socket, unanswered] of open) if (![...unanswered].some(({ complete }) => complete)) socket.destroy()
  }

  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
    const timers = [
      setTimeout(endUnlessAnswering, waits.arrivals),
      setTimeout(() => app.server.closeAllConnections(), waits.answers),
    ]
    app.server.once('close', () => timers.forEach(clearTimeout))
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
}
