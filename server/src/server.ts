/** The running service: HTTP in front, the worker behind, started and stopped in the order that loses nothing. */
import type { Claimcheck } from './container.ts'
import { buildApp } from './http/app.ts'
import type { App } from './http/instance.ts'

export interface RunningServer {
  readonly url: string
  /** Answers what was asked, finishes the checks that are under way, and records what they found. */
  stop(): Promise<void>
}

/** @throws SigningError when the log's key is not here, and what `listen` throws */
export async function startServer(claimcheck: Claimcheck): Promise<RunningServer> {
  const { config, signingKeys, recheckWorker, adjudication, sequencer } = claimcheck
  await signingKeys.ensureLog()
  const app = await createApp(claimcheck)
  await app.listen({ host: config.host, port: config.port })
  recheckWorker.start()
  return {
    url: app.listeningOrigin,
    async stop() {
      await app.close()
      await recheckWorker.stop()
      await adjudication.idle()
      await sequencer.idle()
    },
  }
}

function createApp(claimcheck: Claimcheck): Promise<App> {
  const { config, registry, signingKeys, storage, logger } = claimcheck
  return buildApp({
    services: claimcheck,
    profiles: registry.profiles(),
    publicActions: registry.publicActions(),
    keyDocument: () => signingKeys.document(),
    readiness: async () => {
      await storage.read.log.state()
      return { ok: true, problems: [] }
    },
    rateLimits: config.rateLimits,
    trustProxy: config.trustProxy,
    ...(config.publicUrl === undefined ? {} : { publicUrl: config.publicUrl }),
    logger,
  })
}
