/** The pages for everybody, without a session. */
import type { App } from '../http/instance.ts'
import type { Limiters } from '../http/rate-limit.ts'
import { profileList } from '../http/routes/profiles.ts'
import type { ReceiptService } from '../log/receipts.ts'
import type { SigningKeys } from '../log/signing/signing-keys.ts'
import type { Registry } from '../plugins/registry.ts'
import { pageHeaders } from '../web/headers.ts'
import { checkerRoutes } from './checker/routes.ts'
import { docsRoutes } from './docs/routes.tsx'
import { answerErrorsWithPages } from './error-page.tsx'
import { type LogPagesDependencies, logRoutes } from './log/routes.tsx'
import { receiptPageRoutes } from './receipt/routes.tsx'

export interface SiteDependencies extends LogPagesDependencies {
  readonly receipts: ReceiptService
  readonly registry: Registry
  readonly config: { readonly securityContact: string | undefined }
  readonly signingKeys: Pick<SigningKeys, 'document'>
}

export async function siteRoutes(app: App, services: SiteDependencies, limiters: Limiters): Promise<void> {
  const { receipts, log, registry, signingKeys } = services
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
  await app.register(async (log: App) => logRoutes(log, services, limiters.log))
  const receiptPages = {
    receipts,
    log,
    keyDocument: () => signingKeys.document(registry.anchorer?.identity()),
    profiles: profileList(registry.allProfiles()),
    ownAddress: services.ownAddress,
  }
  receiptPageRoutes(app, receiptPages, limiters.receipts)
}
