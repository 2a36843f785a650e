/** The metrics of all features for Prometheus, and whether this host can do its work. They name no workspace, and nothing that belongs to one. */
import type { FastifyBaseLogger } from 'fastify'
import { Gauge, Registry } from 'prom-client'
import type { Feature, NotReady } from './feature.ts'
import type { MakeGauge, Metrics, Readiness } from './monitoring.ts'

export function createMetrics(features: readonly Feature[], services: unknown): Metrics {
  const registry = new Registry()
  const gauge: MakeGauge = (name, help, labelNames = []) =>
    new Gauge({ name: `claimcheck_${name}`, help, labelNames, registers: [registry] })
  const readings = features.flatMap(({ metrics }) => metrics?.(services)(gauge) ?? [])
  return {
    contentType: registry.contentType,
    async text() {
      await Promise.all(readings.map((read) => read()))
      return registry.metrics()
    },
  }
}

export function createReadiness(
  features: readonly Feature[],
  services: { readonly logger: Pick<FastifyBaseLogger, 'error'> },
): () => Promise<Readiness> {
  return async () => {
    try {
      const found: NotReady[] = []
      for (const { readiness } of features) {
        const problem = await readiness?.(services)
        if (problem) found.push(problem)
      }
      return { ok: found.every(({ serves }) => serves), problems: found.map(({ problem }) => problem) }
    } catch (error) {
      services.logger.error({ err: error }, 'cannot read the database')
      return { ok: false, problems: ['the database cannot be read'] }
    }
  }
}
