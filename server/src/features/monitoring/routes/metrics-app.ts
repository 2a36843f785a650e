/** The metrics at a separate address, which no proxy has to expose. */
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { Metrics } from '../../../host/monitoring.ts'
import { ARRIVAL_TIMES, endConnectionsOnClose } from '../../../http/connections.ts'
import { answerClientError, answerErrors, answerUnroutable } from '../../../http/errors.ts'
import { headersOfAll, setHeaders } from '../../../http/hooks.ts'
import type { App } from '../../../http/instance.ts'
import { metricsRoutes } from './metrics.ts'

/**
 * Builds the server of the metrics.
 * @param token the token that readers must show; undefined: every client that reaches the address may read
 */
export function buildMetricsApp(parts: {
  metrics: Metrics
  token: string | undefined
  logger: FastifyBaseLogger
}): App {
  const { metrics, token, logger } = parts
  const headers = headersOfAll(undefined)
  const app: App = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: ARRIVAL_TIMES.request,
    http: { headersTimeout: ARRIVAL_TIMES.headers, connectionsCheckingInterval: ARRIVAL_TIMES.checkEvery },
    frameworkErrors: answerUnroutable(headers),
    clientErrorHandler: answerClientError(headers),
  })
  answerErrors(app)
  setHeaders(app, headers)
  endConnectionsOnClose(app)
  metricsRoutes(app, metrics, token === undefined ? 'anybody' : { token })
  return app
}
