/** Opens the Fastify instance with the hooks that every request passes and every answer gets, before there are routes. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { ConnectionSettings, RateLimits } from '../config/limits.ts'
import type { TrustedProxies } from '../config/trust-proxy.ts'
import { BODY_LIMIT_BYTES } from './body.ts'
import { ARRIVAL_TIMES, type ArrivalTimes, boundConnections, endConnectionsOnClose } from './connections.ts'
import type { Counters } from './counters.ts'
import { answerClientError, answerErrors, answerExpectation, answerUnroutable } from './errors.ts'
import { boundFields, parseQuery } from './fields.ts'
import { type Gate, openGate } from './gate.ts'
import { headersOfAll, readOutBodies, refuseAmbiguousMessages, setHeaders } from './hooks.ts'
import type { App } from './instance.ts'
import { clientAddress, proxiesIn, readPlainAddresses } from './proxies.ts'

export interface FrameOptions {
  readonly rateLimits: RateLimits
  readonly connections: ConnectionSettings
  /** The times in which requests must arrive; defaults to those of every service. */
  readonly arrivalTimes?: ArrivalTimes
  readonly counters: Counters
  readonly meters: Meters
  /** The proxies whose statements about a client's address are trusted. */
  readonly trustProxy: TrustedProxies
  readonly publicUrl?: string
  readonly logger: FastifyBaseLogger
  /** True for a server that, when it closes, ends the requests under way and waits for no slow sender. */
  readonly endsAtOnce?: true
}

/** The longest part of a path: an agent's name of 256 characters of up to four bytes, each written as three. */
const MOST_OF_A_NAME = 256 * 4 * 3

/**
 * Opens the frame of a server.
 * @param observe adds hooks before all others: they see refused requests, too
 */
export function openFrame(
  options: FrameOptions,
  observe: (app: App) => void = () => {},
): { readonly app: App; readonly gate: Gate } {
  const { connections, logger, meters } = options
  const times = options.arrivalTimes ?? ARRIVAL_TIMES
  const headers = headersOfAll(options.publicUrl)
  const isProxy = proxiesIn(options.trustProxy)
  const app: App = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines name the request's id: a logger for each request would take a fiftieth of a receipt's time.
    childLoggerFactory: (logger) => logger,
    trustProxy: isProxy,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: times.request,
    http: { headersTimeout: times.headers, connectionsCheckingInterval: times.checkEvery },
    routerOptions: { maxParamLength: MOST_OF_A_NAME, querystringParser: parseQuery },
    // Open requests, and those that still arrive, get answers while the server closes.
    return503OnClosing: false,
    ...(options.endsAtOnce ? { forceCloseConnections: true } : {}),
    frameworkErrors: answerUnroutable(headers, (request, reply) => {
      return gate.enter(request, reply, clientAddress(request.raw, isProxy))
    }),
    clientErrorHandler: answerClientError(headers),
  }).withTypeProvider<TypeBoxTypeProvider>()
  boundConnections(app.server, { ...connections, isProxy, logger, meters })
  answerErrors(app)
  app.server.on('checkExpectation', answerExpectation(headers))
  observe(app)
  readPlainAddresses(app)
  setHeaders(app, headers)
  // Ambiguity is examined before the gate, whose refusals end no connection; those of a message with two readings have to.
  refuseAmbiguousMessages(app)
  const gate = openGate(app, options)
  boundFields(app)
  readOutBodies(app)
  endConnectionsOnClose(app)
  return { app, gate }
}
