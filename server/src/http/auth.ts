/** Authenticates requests: those without a valid credential are refused. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyService } from '../workspaces/keys.ts'
import { type Credential, carryCredentials, setCredential } from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'
import type { Limiters } from './rate-limit.ts'

// RFC 6750 2.1; the scheme's name is case-insensitive (RFC 9110 11.1).
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** Returns the credential of a bearer token; undefined when the token is not valid. */
export type Authenticate = (text: string) => Promise<Credential | undefined>

interface CredentialOptions {
  readonly authenticate: Authenticate
  readonly limiters: Limiters
  /** The value of `WWW-Authenticate`, which says how to get a credential. */
  readonly challenge?: () => string
}

/** Requires a credential on the routes of `app`. Other routes ignore the Authorization header. */
export function requireCredential(app: App, options: CredentialOptions): void {
  const { authenticate, limiters, challenge = () => 'Bearer' } = options
  carryCredentials(app)
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { authorization } = request.headers
    if (authorization !== undefined) await limiters.refusals.peek(request, reply)
    const text = BEARER.exec(authorization ?? '')?.[1]
    const credential = text === undefined ? undefined : await authenticate(text)
    if (!credential) {
      if (authorization !== undefined) await limiters.refusals.count(request, reply)
      reply.header('www-authenticate', challenge())
      throw new HttpError(401, 'invalid or missing API key')
    }
    setCredential(request, credential)
    await limiters.key.count(request, reply)
  })
}

/** Accepts keys only, and no tokens of applications. */
export function requireKey(app: App, keys: Pick<KeyService, 'authenticate'>, limiters: Limiters): void {
  requireCredential(app, { authenticate: (key) => keys.authenticate(key), limiters })
}
