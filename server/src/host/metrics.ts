/** The metrics of all features for Prometheus. They name no workspace, and nothing that belongs to one. */
import type { FastifyBaseLogger } from 'fastify'
import type { Meters } from '../base/meters.ts'
import { settledWithin } from '../base/time-limit.ts'
import type { Feature } from './feature.ts'
import type { Metrics } from './monitoring.ts'

/** The time limit of a reading. Prometheus waits for ten seconds by default, and a database that is away may keep a reading for longer. */
const LONGEST_READING_MS = 3_000

/** Reads the metrics. A reading that fails or does not end, as in an outage of the database, leaves the values of the one before. */
export function createMetrics(
  features: readonly Feature[],
  services: { readonly meters: Meters; readonly logger: Pick<FastifyBaseLogger, 'error'> },
): Metrics {
  const { meters, logger } = services
  const readings = features.flatMap(({ metrics }) => metrics?.(services)(meters) ?? []).map(joined)
  const failed = meters.gauge(
    'metrics_readings_failed',
    'Number of readings that failed, whose metrics have older values',
  )

  /**
   * Attempts a reading.
   * @returns whether it succeeded in time
   */
  async function attempt(read: () => Promise<void>): Promise<boolean> {
    const attempted = read().then(
      () => true,
      (error: unknown) => {
        logger.error({ err: error }, 'cannot read metrics')
        return false
      },
    )
    return (await settledWithin(attempted, LONGEST_READING_MS)) ?? false
  }

  return {
    contentType: meters.contentType,
    async text() {
      const succeeded = await Promise.all(readings.map(attempt))
      failed.set(succeeded.filter((isRead) => !isRead).length)
      return meters.text()
    },
  }
}

/** Shares a reading under way with everybody who asks meanwhile: readings of an outage do not pile up. */
function joined(read: () => void | Promise<void>): () => Promise<void> {
  let reading: Promise<void> | undefined
  return () => {
    reading ??= (async () => read())().finally(() => {
      reading = undefined
    })
    return reading
  }
}
