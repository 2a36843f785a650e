/** The pages for everybody, without a session. */
import type { App } from '../http/instance.ts'
import type { Limiters } from '../http/rate-limit.ts'
import type { Registry } from '../plugins/registry.ts'
import { pageHeaders } from '../web/headers.ts'
import { docsRoutes } from './docs/routes.tsx'
import { type LogPagesDependencies, logRoutes } from './log/routes.tsx'

export interface SiteDependencies extends LogPagesDependencies {
  readonly registry: Registry
}

export async function siteRoutes(app: App, services: SiteDependencies, limiters: Limiters): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true }
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(pageHeaders())
    done()
  })
  await app.register(async (docs: App) => docsRoutes(docs, services))
  await app.register(async (log: App) => logRoutes(log, services, limiters.log))
}
