/** The console: registers the pages that people use. */
import cookie from '@fastify/cookie'
import { ServiceError } from '../../base/errors.ts'
import { acceptForms } from '../../http/fields.ts'
import type { Gate } from '../../http/gate.ts'
import type { App } from '../../http/instance.ts'
import { assetRoutes } from '../../web/assets.ts'
import { paths, WORKSPACE_PREFIX } from '../../web/console-paths.ts'
import { pageHeaders } from '../../web/headers.ts'
import { publicPaths } from '../../web/paths.ts'
import type { ConsoleDependencies } from './dependencies.ts'
import { answerErrorsWithPages, answerUnknown } from './error-pages.tsx'
import { rememberBrowsers } from './known-browser.ts'
import { redirectToLocalhost } from './loopback.ts'
import { consentRoutes } from './oauth/consent.tsx'
import { accountRoutes } from './pages/account.tsx'
import { closingRoutes } from './pages/account-deletion.tsx'
import { addressRoutes } from './pages/address.tsx'
import { agentRoutes } from './pages/agents.tsx'
import { applicationRoutes } from './pages/applications.tsx'
import { accountEventRoutes, auditTrailRoutes } from './pages/audit-trail.tsx'
import { claimRoutes } from './pages/claims.tsx'
import { connectionRoutes } from './pages/connections.tsx'
import { deletionRoutes } from './pages/deletion.tsx'
import { developerRoutes } from './pages/developers.tsx'
import { eventRoutes } from './pages/events.ts'
import { forgottenRoutes } from './pages/forgotten.tsx'
import { homeRoutes } from './pages/home.tsx'
import { memberRoutes } from './pages/members.tsx'
import { newClaimRoutes } from './pages/new-claim.tsx'
import { oidcRoutes } from './pages/oidc.tsx'
import { passkeyRoutes, passkeySignInRoutes } from './pages/passkeys.tsx'
import { pluginRoutes } from './pages/plugins.tsx'
import { retentionRoutes } from './pages/retention.tsx'
import { revisitSettingRoutes } from './pages/revisits.tsx'
import { secondStepRoutes } from './pages/second-step.tsx'
import { signInRoutes } from './pages/sign-in.tsx'
import { silenceRoutes } from './pages/silence.tsx'
import { webhookRoutes } from './pages/webhooks.tsx'
import { readSessions, refuseUnclearText, requireSession } from './session.ts'
import { answerSignedOut, answerStale, confirmRoutes } from './sign-in-again.ts'
import { answerWeak } from './weak-sign-in.tsx'

const FOR_EVERYBODY = [signInRoutes, forgottenRoutes, passkeySignInRoutes, oidcRoutes]
const FOR_THE_SIGNED_IN = [
  homeRoutes,
  accountRoutes,
  addressRoutes,
  passkeyRoutes,
  secondStepRoutes,
  confirmRoutes,
  closingRoutes,
  applicationRoutes,
  accountEventRoutes,
  consentRoutes,
]
const IN_A_WORKSPACE = [
  connectionRoutes,
  developerRoutes,
  webhookRoutes,
  claimRoutes,
  eventRoutes,
  newClaimRoutes,
  agentRoutes,
  memberRoutes,
  retentionRoutes,
  silenceRoutes,
  revisitSettingRoutes,
  deletionRoutes,
  pluginRoutes,
  auditTrailRoutes,
]

export async function consoleRoutes(app: App, services: ConsoleDependencies, gate: Pick<Gate, 'admit'>): Promise<void> {
  if (!services.isActive('site'))
    app.get(publicPaths.home, { config: { cost: 'small' }, schema: { hide: true } }, async (_request, reply) =>
      reply.redirect(paths.home, 302),
    )
  await app.register(async (assets: App) => assetRoutes(assets))
  await app.register(async (pages: App) => {
    await pages.register(cookie)
    acceptForms(pages)
    // The API description leaves pages out.
    pages.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true }
    })
    pages.addHook('onRequest', (_request, reply, done) => {
      reply.headers(pageHeaders())
      done()
    })
    answerErrorsWithPages(pages, services.members)
    redirectToLocalhost(pages, services.config.publicUrl)
    refuseUnclearText(pages)
    readSessions(pages, services, gate, answerStale)
    rememberBrowsers(pages, services)
    for (const addRoutes of FOR_EVERYBODY) addRoutes(pages, services)
    pages.get('/console/*', async () => {
      throw new ServiceError('not_found', 'there is no such page')
    })
    // This route answers before the body is read.
    pages.route({
      url: '/console/*',
      method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      config: { cost: 'small' },
      onRequest: answerUnknown,
      handler: answerUnknown,
    })
    await pages.register(async (inside: App) => {
      requireSession(inside, services, {
        answerSignedOut: answerSignedOut(services),
        answerWeak: answerWeak(services),
      })
      for (const addRoutes of FOR_THE_SIGNED_IN) addRoutes(inside, services)
      await inside.register(
        async (workspace: App) => {
          for (const addRoutes of IN_A_WORKSPACE) addRoutes(workspace, services)
        },
        { prefix: WORKSPACE_PREFIX },
      )
    })
  })
}
