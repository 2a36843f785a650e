/** The pages for everybody, without a session. */
import type { ProfileList } from '@claimcheck/core/api'
import { pick } from '../../base/pick.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Feature } from '../../host/feature.ts'
import type { App } from '../../http/instance.ts'
import type { Registry } from '../../plugins/registry.ts'
import { commandLineOf } from '../../web/command-line.ts'
import { pageHeaders } from '../../web/headers.ts'
import type { ReceiptService } from '../receipts/receipts.ts'
import { checkerRoutes } from './checker/routes.ts'
import { docsRoutes } from './docs/routes.tsx'
import { answerErrorsWithPages } from './error-page.tsx'
import { type LogPagesDependencies, logRoutes } from './log/routes.tsx'
import { receiptPageRoutes } from './receipt/routes.tsx'

export interface SiteDependencies extends Omit<LogPagesDependencies, 'commandLine'> {
  readonly receipts: ReceiptService
  readonly registry: Registry
  readonly features: readonly Pick<Feature, 'pages'>[]
  readonly keyDocument: () => Promise<object | string>
  readonly published: () => Promise<ProfileList>
  readonly config: Pick<HostConfig, 'verifierPackage'> & { readonly securityContact: string | undefined }
}

export async function siteRoutes(app: App, services: SiteDependencies): Promise<void> {
  const { published: profiles, config } = services
  const pages = {
    ...pick(services, 'receipts', 'log', 'storage', 'now', 'ownAddress', 'keyDocument'),
    profiles,
    commandLine: commandLineOf(config),
  }
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true }
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(pageHeaders())
    done()
  })
  answerErrorsWithPages(app)
  checkerRoutes(app)
  await app.register(async (docs: App) => docsRoutes(docs, services))
  await app.register(async (log: App) => logRoutes(log, pages))
  receiptPageRoutes(app, pages)
}
