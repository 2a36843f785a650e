/** Bounds what connections cost: how many there are, in all and from one address, and how long a request may take to arrive. */
import type { Server } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { ConnectionSettings } from '../config/connections.ts'
import { networkOf } from './network.ts'
import type { IsProxy } from './proxies.ts'

/** In milliseconds. */
export interface ArrivalTimes {
  /** Against slow senders: a request must arrive completely within this time. */
  readonly request: number
  /** And its headers within this. */
  readonly headers: number
  /** How often both are looked at. */
  readonly checkEvery: number
}

export const ARRIVAL_TIMES: ArrivalTimes = { request: 30_000, headers: 15_000, checkEvery: 2000 }

export interface BoundConnections extends ConnectionSettings {
  /** Its connections are those of many clients. */
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
    // The connection is over already.
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
