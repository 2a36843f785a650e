/** The metrics of all features for Prometheus. They name no workspace, and nothing that belongs to one. */
import type { FastifyBaseLogger } from 'fastify'
import { Gauge, Registry } from 'prom-client'
import type { Feature } from './feature.ts'
import type { MakeGauge, Metrics } from './monitoring.ts'

interface MetricsServices {
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** A reading that fails, as in an outage of the database, leaves what was read before. */
export function createMetrics(features: readonly Feature[], services: MetricsServices): Metrics {
  const registry = new Registry()
  const gauge: MakeGauge = (name, help, labelNames = []) =>
    new Gauge({ name: `claimcheck_${name}`, help, labelNames, registers: [registry] })
  const readings = features.flatMap(({ metrics }) => metrics?.(services)(gauge) ?? [])
  const failed = gauge('metrics_readings_failed', 'Number of readings that failed, whose metrics have older values')
  return {
    contentType: registry.contentType,
    async text() {
      const results = await Promise.allSettled(readings.map(async (read) => read()))
      const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
      failed.set(errors.length)
      for (const error of errors) services.logger.error({ err: error }, 'cannot read metrics')
      return registry.metrics()
    },
  }
}
