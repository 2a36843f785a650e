/** Without PUBLIC_URL the console and the sign-in flow of applications are at `localhost`. Requests to an IP address of this machine are led there. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../http/errors.ts'
import type { App } from '../http/instance.ts'
import { originOf } from './session.ts'

const LOOPBACK_ADDRESS = /^(127\.[\d.]+|\[::1\])$/

/** Of `app`: pages that are asked for at `127.0.0.1` or `[::1]`. The port stays, so that a tunnel works. */
export function leadToLocalhost(app: App, publicUrl: string | undefined): void {
  if (publicUrl !== undefined) return
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return
    const asked = new URL(originOf(request, undefined))
    if (asked.protocol !== 'http:' || !LOOPBACK_ADDRESS.test(asked.hostname)) return
    const target = new URL(request.url, asked)
    target.hostname = 'localhost'
    target.port = asked.port
    return reply.redirect(target.href, 302)
  })
}

/** Of `app`: refuses browsers that are elsewhere than the issuer. Their cookies, and so the flow, would end on the way. */
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
