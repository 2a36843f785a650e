/** The route of the metrics, which are for monitoring and not part of the described API, and who may read them. */
import { hash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../../../host/monitoring.ts'
import { HttpError } from '../../../http/errors.ts'
import type { App } from '../../../http/instance.ts'

export type MetricsReader =
  /** Lets clients that show the token read. */
  | { readonly token: string }
  /** Lets programs of this machine read. */
  | 'this machine'
  /** Lets every client that reaches the address read. */
  | 'anybody'
  /** Lets nobody read: behind an unknown proxy everybody seems to be this machine. */
  | 'nobody'

const HOW = 'the operator reads them with METRICS_TOKEN, or at the address of METRICS_LISTEN'
/** Headers of which a proxy adds at least one, unless it adds none that would tell. */
const FORWARDING = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

export function metricsRoutes(app: App, metrics: Metrics, reader: MetricsReader): void {
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => requireReader(request, reply, reader)
  app.get('/metrics', { schema: { hide: true }, onRequest }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  )
}

/**
 * Requires a client that may read.
 * @throws HttpError 401, 403
 */
function requireReader(request: FastifyRequest, reply: FastifyReply, reader: MetricsReader): void {
  if (reader === 'anybody') return
  if (typeof reader === 'object') {
    const [, token = ''] = /^Bearer ([!-~]+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (isSame(token, reader.token)) return
    reply.header('www-authenticate', 'Bearer')
    throw new HttpError(401, 'the metrics need the token of METRICS_TOKEN: send Authorization: Bearer and the token')
  }
  const isForwarded = FORWARDING.some((name) => request.headers[name] !== undefined)
  if (reader === 'this machine' && !isForwarded && isLoopback(request.ip)) return
  throw new HttpError(403, `the metrics are not for everybody: ${HOW}`)
}

function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Compares texts in the same time for any text. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
