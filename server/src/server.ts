/** Starts and stops the service: HTTP server, plugins and workers, in an order in which nothing is lost. */
import fastifyPlugin from 'fastify-plugin'
import type { Worker } from './base/worker.ts'
import { isThisMachine, listeningUrl } from './config/address.ts'
import type { Config } from './config/config.ts'
import { consoleRoutes } from './console/console.tsx'
import { oauthEndpoints } from './console/oauth/endpoints.ts'
import type { Claimcheck } from './container.ts'
import { buildApp } from './http/app.ts'
import type { App } from './http/instance.ts'
import { buildMetricsApp } from './http/metrics-app.ts'
import type { MetricsReader } from './http/routes/metrics.ts'
import { metadataRoutes } from './http/routes/oauth-metadata.ts'
import { profileList } from './http/routes/profiles.ts'
import { type McpParts, mcpRoutes } from './mcp/routes.ts'
import { siteRoutes } from './site/site.ts'
import { createMetrics } from './upkeep/metrics.ts'
import { publicPaths } from './web/paths.ts'

export interface RunningServer {
  /** Where it listens. */
  readonly url: string
  /** Where it tells its metrics, with an address of their own. */
  readonly metricsUrl?: string
  /** Answers the open requests, finishes the running checks and stores their outcomes. */
  stop(): Promise<void>
}

/**
 * @throws SigningError when the log's private key is missing; ServiceError `unavailable` when there is no log yet and the time is in doubt; the
 *   errors of `listen`
 */
export async function startServer(claimcheck: Claimcheck): Promise<RunningServer> {
  const { config, storage, signingKeys, logGuard, clockWatch, sequencer, connections, logger } = claimcheck
  const hasLog = (await storage.read.log.state()) !== undefined
  // What a log begins with stays.
  await (hasLog ? clockWatch.compare() : clockWatch.requireTime())
  await signingKeys.ensureLog()
  await connections.fillSourceKeys()
  await logGuard.examine()
  const app = await createApp(claimcheck)
  // Fastify answers the open requests, and then stops the workers.
  await app.register(backgroundWork(claimcheck))
  await sequencer.ready()
  const url = () => listeningUrl({ host: config.host, port: boundPort(app) })
  claimcheck.ownAddress.listensAt(url)
  await app.listen({ host: config.host, port: config.port })
  const ofMetrics = config.metrics.listen
  const metricsApp = ofMetrics && buildMetricsApp({ ...config.metrics, metrics: createMetrics(claimcheck), logger })
  try {
    if (ofMetrics) await metricsApp?.listen(ofMetrics)
  } catch (error) {
    await app.close()
    throw error
  }
  for (const worker of workersOf(claimcheck)) worker.start()
  return {
    url: url(),
    ...(metricsApp
      ? { metricsUrl: `${listeningUrl({ host: ofMetrics!.host, port: boundPort(metricsApp) })}/metrics` }
      : {}),
    async stop() {
      await metricsApp?.close()
      await app.close()
    },
  }
}

function boundPort(app: App): number {
  return Number(new URL(app.listeningOrigin).port || 80)
}

function metricsReader({ metrics: { listen, token }, publicUrl, trustProxy }: Config): MetricsReader | undefined {
  if (listen) return undefined
  if (token !== undefined) return { token }
  // Behind a proxy that nobody has named, everybody seems to be this machine.
  const isBehindProxy = publicUrl !== undefined && trustProxy === 0 && !isThisMachine(new URL(publicUrl).hostname)
  return isBehindProxy ? 'nobody' : 'this machine'
}

function workersOf(claimcheck: Claimcheck): readonly Worker[] {
  const { clockWatch, recheckWorker, anchorWorker, mailWorker, retentionWorker, auditRetention } = claimcheck
  return [clockWatch, recheckWorker, anchorWorker, mailWorker, retentionWorker, auditRetention]
}

function backgroundWork(claimcheck: Claimcheck) {
  const { adjudication, sequencer } = claimcheck
  return fastifyPlugin(
    async (app) => {
      app.addHook('onClose', async () => {
        await Promise.all(workersOf(claimcheck).map((worker) => worker.stop()))
        await adjudication.idle()
        await sequencer.idle()
      })
    },
    { name: 'background-work', fastify: '5.x' },
  )
}

function createApp(claimcheck: Claimcheck): Promise<App> {
  const { config, registry, signingKeys, vault, storage, logGuard, clock, counters, logger, oauth, tokens, now } =
    claimcheck
  const { publicUrl, securityContact: contact } = config
  const rules = {
    profiles: registry.profiles(),
    published: profileList(registry.allProfiles(), config.checks),
    publicActions: [...registry.publicActions(), ...registry.publicAliases()],
    keyDocument: () => signingKeys.document(registry.anchorer?.identity()),
  }
  return buildApp({
    services: claimcheck,
    oauth: {
      authenticate: (text) => tokens.authenticate(text),
      keyExchange: claimcheck.keyExchange,
      revokeKey: claimcheck.keys.revoke,
      metadataUrl: () => oauth.metadataUrl(),
      documents: (app) => metadataRoutes(app, oauth),
      endpoints: (app, limit) => oauthEndpoints(app, { oauth, limit, publicUrl: config.publicUrl }),
    },
    console: (app) => consoleRoutes(app, claimcheck),
    site: (app, limiters) => siteRoutes(app, claimcheck, limiters),
    receiptPage: publicPaths.receipt,
    mcp: (app, limiters) => mcpRoutes(app, mcpParts(claimcheck, rules), limiters),
    ...rules,
    metrics: createMetrics(claimcheck),
    metricsReader: metricsReader(config),
    readiness: async () => {
      try {
        await storage.read.log.state()
        const problem = logGuard.problem()
        if (problem !== undefined) return { ok: false, problems: [`read-only: ${problem}`] }
        const doubt = clock.doubt()
        if (doubt !== undefined) return { ok: false, problems: [`the time is in doubt: ${doubt}`] }
        // Requests are served all the same, so the balancer keeps this host.
        const unsigned = await vault.problem()
        return { ok: true, problems: unsigned === undefined ? [] : [`claims wait for a signature: ${unsigned}`] }
      } catch (error) {
        logger.error({ err: error }, 'cannot read the database')
        return { ok: false, problems: ['the database cannot be read'] }
      }
    },
    rateLimits: config.rateLimits,
    connections: config.connections,
    counters,
    trustProxy: config.trustProxy,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(contact === undefined ? {} : { securityContact: { contact, publicUrl, now } }),
    logger,
  })
}

/** Named one by one: the container makes each part when it is asked for it. */
function mcpParts(
  claimcheck: Claimcheck,
  rules: Pick<McpParts, 'profiles' | 'published' | 'publicActions' | 'keyDocument'>,
): McpParts {
  const { claims, receipts, log, connections, keys, tokens, oauth, logger, config } = claimcheck
  return { ...rules, claims, receipts, log, connections, keys, tokens, oauth, logger, publicUrl: config.publicUrl }
}
