/** Lets requests with a good API key pass, and no others. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyService } from '../services/keys.ts'
import { carryCredentials, setCredential } from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'
import type { Limiters } from './rate-limit.ts'

// RFC 6750 2.1; the scheme's name is case-insensitive (RFC 9110 11.1).
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** For the routes of `app` alone: elsewhere any Authorization header passes unread. */
export function requireKey(app: App, keys: Pick<KeyService, 'authenticate'>, limiters: Limiters): void {
  carryCredentials(app)
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { authorization } = request.headers
    if (authorization !== undefined) await limiters.refusals.peek(request, reply)
    const key = BEARER.exec(authorization ?? '')?.[1]
    const credential = key === undefined ? undefined : await keys.authenticate(key)
    if (!credential) {
      if (authorization !== undefined) await limiters.refusals.count(request, reply)
      reply.header('www-authenticate', 'Bearer')
      throw new HttpError(401, 'invalid or missing API key')
    }
    setCredential(request, credential)
    await limiters.key.count(request, reply)
  })
}
