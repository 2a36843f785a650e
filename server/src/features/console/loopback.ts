/** Redirects from the IP addresses of this machine to `localhost`, where the console and the OAuth flow are without PUBLIC_URL. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopbackAddress } from '../../base/loopback.ts'
import { HttpError } from '../../http/errors.ts'
import type { App } from '../../http/instance.ts'
import { originOf } from '../../web/origin.ts'

/** Redirects pages from `127.0.0.1` and `[::1]` to `localhost`. The port of the request stays, so that tunnels work. */
export function redirectToLocalhost(app: App, publicUrl: string | undefined): void {
  if (publicUrl !== undefined) return
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return
    const asked = new URL(originOf(request, undefined))
    if (asked.protocol !== 'http:' || !isLoopbackAddress(asked.hostname)) return
    const target = new URL(request.url, asked)
    target.hostname = 'localhost'
    target.port = asked.port
    return reply.redirect(target.href, 302)
  })
}

/** Refuses browsers at another origin than the issuer, where the flow would lose its cookies on the way. */
export function requireIssuerOrigin(app: App, issuer: () => string, publicUrl: string | undefined): void {
  app.addHook('onRequest', async (request) => {
    const origin = originOf(request, publicUrl)
    if (origin === issuer()) return
    throw new HttpError(
      400,
      `applications sign in at ${issuer()}, and this page was opened at ${origin}: set PUBLIC_URL to the address that browsers use`,
    )
  })
}
