/** The pages for everybody, without a session. */
import type { App } from '../../http/instance.ts'
import { commandLineOf } from '../../web/command-line.ts'
import { pageHeaders } from '../../web/headers.ts'
import { checkerRoutes } from './checker/routes.ts'
import type { SiteDependencies } from './dependencies.ts'
import { docsRoutes } from './docs/routes.tsx'
import { answerErrorsWithPages } from './error-page.tsx'
import { homeRoutes } from './home/routes.tsx'
import { logRoutes } from './log/routes.tsx'
import { receiptPageRoutes } from './receipt/routes.tsx'

export async function siteRoutes(app: App, services: SiteDependencies): Promise<void> {
  const commandLine = commandLineOf(services.config)
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true }
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(pageHeaders())
    done()
  })
  answerErrorsWithPages(app)
  checkerRoutes(app)
  await app.register(async (home: App) => homeRoutes(home, services))
  await app.register(async (docs: App) => docsRoutes(docs, services))
  await app.register(async (log: App) => logRoutes(log, services, commandLine))
  receiptPageRoutes(app, services, commandLine)
}
