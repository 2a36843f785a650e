/** The OAuth endpoints. Requests go to oidc-provider unread. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../http/instance.ts'
import { networkOf } from '../../../http/network.ts'
import { pageHeaders } from '../../../web/headers.ts'
import type { OAuth } from '../../oauth/oauth.ts'
import { OAUTH_PATHS } from '../../oauth/paths.ts'
import { answerErrorsWithPages } from '../error-pages.tsx'
import { redirectToLocalhost, requireIssuerOrigin } from '../loopback.ts'

export async function oauthEndpoints(app: App, oauth: OAuth, publicUrl: string | undefined): Promise<void> {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.removeAllContentTypeParsers()
  // Bodies are read by oidc-provider itself.
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(pageHeaders())
    done()
  })

  async function passOn(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const handle = await oauth.handler()
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value!)
    if (isClosing) reply.raw.setHeader('connection', 'close')
    await handle({ request: request.raw, response: reply.raw, address: request.ip })
  }

  const schema = { hide: true }
  await app.register(async (browsers: App) => {
    answerErrorsWithPages(browsers)
    redirectToLocalhost(browsers, publicUrl)
    requireIssuerOrigin(browsers, oauth.issuer, publicUrl)
    browsers.get(OAUTH_PATHS.authorize, { schema }, passOn)
    browsers.get(`${OAUTH_PATHS.authorize}/:uid`, { schema }, passOn)
  })
  for (const url of [OAUTH_PATHS.token, OAUTH_PATHS.revoke]) {
    app.route({ url, method: ['POST', 'OPTIONS'], schema, handler: passOn })
  }
  const { registrations } = oauth
  if (!registrations) return
  app.post(OAUTH_PATHS.register, { schema }, async (request, reply) => {
    const network = networkOf(request.ip)
    await registrations.take(network)
    await passOn(request, reply)
    if (reply.raw.statusCode !== 201) await registrations.giveBack(network)
  })
}
