/** Authenticates requests: those without a valid credential are refused. */
import { formatInstant } from '@claimcheck/core/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createGathering } from '../base/batch.ts'
import {
  type Credential,
  carryCredentials,
  confirmCredential,
  type KeyCredential,
  type KeyRefusal,
  setCredential,
} from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'
import { type Limiters, removeLimits } from './rate-limit.ts'

// RFC 6750 2.1; the scheme's name is case-insensitive (RFC 9110 11.1).
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** Returns the credential of a bearer token, or why it is refused from this address; undefined when the token is not valid. */
export type Authenticate = (text: string, address: string) => Promise<Credential | KeyRefusal | undefined>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes a key that is only remembered, and does its work `withConfirmed`. */
    readonly takesRemembered?: boolean
  }
}

/** The options of a route that takes remembered keys: a key that has ended learns nothing, whatever else is wrong with its request. */
export const TAKES_REMEMBERED = {
  config: { takesRemembered: true },
  errorHandler: async (error: Error, request: FastifyRequest): Promise<never> => {
    await confirmCredential(request)
    throw error
  },
} as const

interface CredentialOptions {
  readonly authenticate: Authenticate
  /** For the routes that take a remembered key. */
  readonly remembered?: Keys['remembered']
  readonly limiters: Limiters
  /** The value of `WWW-Authenticate`, which says how to get a credential. @param isRefused the request had one */
  readonly challenge?: (isRefused: boolean) => string
}

/** Requires a credential on the routes of `app`. Other routes ignore the Authorization header. */
export function requireCredential(app: App, options: CredentialOptions): void {
  const { authenticate, remembered, limiters, challenge = () => 'Bearer' } = options
  // Requests that go on in one turn share the batches that follow, as those do that waited for one look-up.
  const gathered = createGathering()
  carryCredentials(app)

  async function lookUp(text: string | undefined, request: FastifyRequest, reply: FastifyReply): Promise<Credential> {
    const found = text === undefined ? undefined : await authenticate(text, request.ip)
    if (isCredential(found)) return found
    // Those of a remembered key.
    removeLimits(reply)
    if (request.headers.authorization !== undefined) await limiters.refusals.count(request, reply)
    const refusal = refusalOf(found)
    if (refusal.statusCode === 401) reply.header('www-authenticate', challenge(text !== undefined))
    throw refusal
  }

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { authorization } = request.headers
    if (authorization !== undefined) await limiters.refusals.peek(request, reply)
    const text = BEARER.exec(authorization ?? '')?.[1]
    const { takesRemembered } = request.routeOptions.config
    const known = takesRemembered && text !== undefined ? remembered?.(text) : undefined
    if (known) {
      setCredential(request, known, () => lookUp(text, request, reply))
      await gathered()
    } else {
      setCredential(request, await lookUp(text, request, reply))
    }
    await limiters.key.count(request, reply)
  })
}

/** Accepts keys only, and no tokens of applications. */
export function requireKey(app: App, keys: Keys, limiters: Limiters): void {
  const { authenticate, remembered } = keys
  requireCredential(app, { authenticate, remembered, limiters })
}

export interface Keys {
  authenticate(key: string, address: string): Promise<KeyCredential | KeyRefusal | undefined>
  /**
   * A key as it was within the last second, without a look into the database. It may have ended since: an answer to it needs a statement that
   * looked at it, or `authenticate`.
   */
  remembered(key: string): KeyCredential | undefined
}

function isCredential(found: Credential | KeyRefusal | undefined): found is Credential {
  return found?.kind === 'key' || found?.kind === 'oauth'
}

// Only who holds the whole key learns this. Which networks it is accepted from, it does not say.
function refusalOf(refusal: KeyRefusal | undefined): HttpError {
  switch (refusal?.kind) {
    case undefined:
      return new HttpError(401, 'invalid or missing API key')
    case 'expired':
      return new HttpError(401, `this API key has expired, at ${formatInstant(refusal.at)}: use another one`)
    case 'elsewhere':
      return new HttpError(403, 'this API key is not accepted from this network')
  }
}
