/** The route of the metrics, which are for monitoring and not part of the described API. */
import type { Metrics } from '../../upkeep/metrics.ts'
import type { App } from '../instance.ts'

export function metricsRoutes(app: App, metrics: Metrics): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  )
}
