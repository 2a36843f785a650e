/** Monitoring: health checks and metrics, the API description, and where to report a weakness. */
import { isLoopback } from '../../base/loopback.ts'
import { listeningUrl } from '../../config/address.ts'
import type { HostConfig } from '../../config/config.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { RouteGroup } from '../../http/app.ts'
import { type MonitoringConfig, monitoringConfig } from './config.ts'
import { hostMetrics } from './metrics.ts'
import type { MetricsReader } from './routes/metrics.ts'

export interface Services
  extends Pick<HostServices, 'readiness' | 'readReadiness' | 'metrics' | 'storage' | 'logger' | 'now'> {
  readonly config: MonitoringConfig & Pick<HostConfig, 'publicUrl' | 'trustProxy' | 'dataDir'>
}

export const monitoringFeature = {
  name: 'monitoring',
  config: monitoringConfig,
  routes: async ({ readiness, readReadiness, metrics, config, now }) => {
    const [{ healthRoutes }, { metricsRoutes }, { securityTxtRoute }] = await Promise.all([
      import('./routes/health.ts'),
      import('./routes/metrics.ts'),
      import('./routes/security-txt.ts'),
    ])
    const reader = metricsReader(config)
    const { securityContact: contact, publicUrl } = config
    const groups: RouteGroup[] = [
      { scope: 'api', cost: 'readiness', add: (app) => healthRoutes(app, readiness, readReadiness) },
      {
        scope: 'api',
        cost: 'file',
        // The API describes itself here, for programs.
        add: (app) => void app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger()),
      },
    ]
    if (reader) groups.push({ scope: 'api', cost: 'metrics', add: (app) => metricsRoutes(app, metrics, reader) })
    if (contact !== undefined)
      groups.push({ scope: 'public', cost: 'small', add: (app) => securityTxtRoute(app, { contact, publicUrl, now }) })
    return groups
  },
  metrics: hostMetrics,
  async listen({ config: { metrics: settings }, metrics, logger }) {
    if (!settings.listen) return undefined
    const { buildMetricsApp } = await import('./routes/metrics-app.ts')
    const app = buildMetricsApp({ token: settings.token, metrics, logger })
    await app.listen(settings.listen)
    const port = Number(new URL(app.listeningOrigin).port || 80)
    const url = `${listeningUrl({ host: settings.listen.host, port })}/metrics`
    return { name: 'metrics', url, close: () => app.close() }
  },
} satisfies Feature<Services>

/** Finds who may read the metrics at the service's address; undefined when they are at a separate one. */
function metricsReader({
  metrics: { listen, token },
  publicUrl,
  trustProxy,
}: Services['config']): MetricsReader | undefined {
  if (listen) return undefined
  if (token !== undefined) return { token }
  // Behind a proxy that the configuration does not name, every client seems to be this machine.
  const isBehindProxy = publicUrl !== undefined && trustProxy === 0 && !isLoopback(new URL(publicUrl).hostname)
  return isBehindProxy ? 'nobody' : 'this machine'
}
