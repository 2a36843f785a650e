/** The console: the pages that people use, each screen in a module of its own. */
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyError } from 'fastify'
import { prepareRefusal } from '../http/errors.ts'
import type { App } from '../http/instance.ts'
import { ServiceError } from '../services/errors.ts'
import { assetRoutes } from './assets.ts'
import { PlainPage, sendPage } from './page.tsx'
import { accountRoutes } from './pages/account.tsx'
import { entranceRoutes } from './pages/entrance.tsx'
import { homeRoutes } from './pages/home.tsx'
import { memberRoutes } from './pages/members.tsx'
import { linkRoutes, outsideRoutes } from './pages/outside.tsx'
import { passkeyRoutes, passkeySignInRoutes } from './pages/passkeys.tsx'
import type { ConsoleParts } from './parts.ts'
import { paths, WORKSPACE_PREFIX } from './paths.ts'
import { identifyVisitors, requireSession } from './visit.ts'

const FORM_LIMIT_BYTES = 64 * 1024

// What a page may load, and from where: ours alone. `same-origin`, so that browsers name the origin of forms.
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
}

export async function consoleRoutes(app: App, parts: ConsoleParts): Promise<void> {
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect(paths.home, 302))
  await app.register(async (assets: App) => assetRoutes(assets))
  await app.register(async (pages: App) => {
    await pages.register(cookie)
    await pages.register(formbody, { bodyLimit: FORM_LIMIT_BYTES })
    hideRoutes(pages)
    pages.addHook('onRequest', (_request, reply, done) => {
      reply.headers(HEADERS)
      done()
    })
    answerErrorsWithPages(pages)
    identifyVisitors(pages, parts)
    entranceRoutes(pages, parts)
    passkeySignInRoutes(pages, parts)
    outsideRoutes(pages, parts)
    pages.all('/console/*', async () => {
      throw new ServiceError('not_found', 'there is no such page')
    })
    await pages.register(async (inside: App) => {
      requireSession(inside, parts.members)
      homeRoutes(inside, parts)
      accountRoutes(inside, parts)
      passkeyRoutes(inside, parts)
      linkRoutes(inside, parts)
      await inside.register(async (workspace: App) => memberRoutes(workspace, parts), { prefix: WORKSPACE_PREFIX })
    })
  })
}

/** They are no part of the API's description. */
function hideRoutes(pages: App): void {
  pages.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true }
  })
}

function answerErrorsWithPages(pages: App): void {
  pages.setErrorHandler<FastifyError>((error, request, reply) => {
    const { status, detail } = prepareRefusal(error, request, reply)
    const page = (
      <PlainPage title={TITLES[status] ?? 'That did not work'} problem={detail}>
        <p>
          <a href={paths.home}>To the console</a>
        </p>
      </PlainPage>
    )
    return sendPage(reply, page, status)
  })
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Nothing here',
  429: 'Too many attempts',
  503: 'Not just now',
}
