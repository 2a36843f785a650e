/** Starts and stops the service: HTTP server, plugins and workers, in an order in which nothing is lost. */
import fastifyPlugin from 'fastify-plugin'
import { listeningUrl } from './config/address.ts'
import { consoleRoutes } from './console/console.tsx'
import { oauthEndpoints } from './console/oauth/endpoints.ts'
import type { Claimcheck } from './container.ts'
import { buildApp } from './http/app.ts'
import type { App } from './http/instance.ts'
import { metadataRoutes } from './http/routes/oauth-metadata.ts'
import { siteRoutes } from './site/site.ts'
import { createMetrics } from './upkeep/metrics.ts'
import { publicPaths } from './web/paths.ts'

export interface RunningServer {
  /** Where it listens. */
  readonly url: string
  /** Answers the open requests, finishes the running checks and stores their outcomes. */
  stop(): Promise<void>
}

/** @throws SigningError when the log's private key is missing; the errors of `listen` */
export async function startServer(claimcheck: Claimcheck): Promise<RunningServer> {
  const { config, signingKeys, logGuard, sequencer, connections } = claimcheck
  const { recheckWorker, anchorWorker, mailWorker, retentionWorker } = claimcheck
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
  recheckWorker.start()
  anchorWorker.start()
  mailWorker.start()
  retentionWorker.start()
  return { url: url(), stop: () => app.close() }
}

function boundPort(app: App): number {
  return Number(new URL(app.listeningOrigin).port || 80)
}

function backgroundWork({ adjudication, sequencer, ...parts }: Claimcheck) {
  const workers = [parts.recheckWorker, parts.anchorWorker, parts.mailWorker, parts.retentionWorker]
  return fastifyPlugin(
    async (app) => {
      app.addHook('onClose', async () => {
        await Promise.all(workers.map((worker) => worker.stop()))
        await adjudication.idle()
        await sequencer.idle()
      })
    },
    { name: 'background-work', fastify: '5.x' },
  )
}

function createApp(claimcheck: Claimcheck): Promise<App> {
  const { config, registry, signingKeys, storage, logGuard, counters, logger, oauth, tokens, now } = claimcheck
  const { publicUrl, securityContact: contact } = config
  return buildApp({
    services: claimcheck,
    oauth: {
      authenticate: (text) => tokens.authenticate(text),
      metadataUrl: () => oauth.metadataUrl(),
      documents: (app) => metadataRoutes(app, oauth),
      endpoints: (app, limit) => oauthEndpoints(app, { oauth, limit, publicUrl: config.publicUrl }),
    },
    console: (app) => consoleRoutes(app, claimcheck),
    site: (app, limiters) => siteRoutes(app, claimcheck, limiters),
    receiptPage: publicPaths.receipt,
    profiles: registry.profiles(),
    allProfiles: registry.allProfiles(),
    publicActions: registry.publicActions(),
    keyDocument: () => signingKeys.document(),
    metrics: createMetrics(claimcheck),
    readiness: async () => {
      try {
        await storage.read.log.state()
        const problem = logGuard.problem()
        return problem === undefined ? { ok: true, problems: [] } : { ok: false, problems: [`read-only: ${problem}`] }
      } catch (error) {
        logger.error({ err: error }, 'cannot read the database')
        return { ok: false, problems: ['the database cannot be read'] }
      }
    },
    rateLimits: config.rateLimits,
    counters,
    trustProxy: config.trustProxy,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(contact === undefined ? {} : { securityContact: { contact, publicUrl, now } }),
    logger,
  })
}
