/** Authenticates requests: those without a valid credential are refused. */
import { formatInstant } from '@claimcheck/core/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Credential,
  carryCredentials,
  type KeyCredential,
  type KeyRefusal,
  payersOf,
  setCredential,
  spenderOf,
} from './credential.ts'
import { HttpError } from './errors.ts'
import type { Gate } from './gate.ts'
import type { App } from './instance.ts'
import { announceTreeHeads, hearTreeHead, type TreeHeads } from './tree-heads.ts'

// RFC 6750 2.1; the scheme's name is case-insensitive (RFC 9110 11.1).
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** Returns the credential of a bearer token, or the reason to refuse it from this address; undefined when the token is not valid. */
export type Authenticate = (text: string, address: string) => Promise<Credential | KeyRefusal | undefined>

interface CredentialOptions {
  readonly authenticate: Authenticate
  readonly gate: Gate
  /**
   * The value of `WWW-Authenticate`, which says how to get a credential.
   * @param isRefused true when the request had one
   */
  readonly challenge?: (isRefused: boolean, request: FastifyRequest) => string
  /** Receives the tree heads of the log that clients with a credential witness. */
  readonly treeHeads?: TreeHeads | undefined
}

/** Requires a credential on the routes of `app`. Other routes ignore the Authorization header. */
export function requireCredential(app: App, options: CredentialOptions): void {
  const { authenticate, gate, challenge = () => 'Bearer', treeHeads } = options
  carryCredentials(app)
  if (treeHeads) announceTreeHeads(app, treeHeads)
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, needsCredential: true }
  })

  async function lookUp(text: string | undefined, request: FastifyRequest, reply: FastifyReply): Promise<Credential> {
    const found = text === undefined ? undefined : await authenticate(text, request.ip)
    if (isCredential(found)) return found
    if (request.headers.authorization !== undefined) await gate.refusals.count(request, reply)
    const refusal = refusalOf(found)
    if (refusal.statusCode === 401) reply.header('www-authenticate', challenge(text !== undefined, request))
    throw refusal
  }

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { authorization } = request.headers
    if (authorization !== undefined) await gate.refusals.peek(request, reply)
    const text = BEARER.exec(authorization ?? '')?.[1]
    const credential = await lookUp(text, request, reply)
    setCredential(request, credential)
    await gate.admit(request, reply, payersOf(credential))
    if (treeHeads) hearTreeHead(request, treeHeads, spenderOf(credential))
  })
}

/** Returns the text of the credential of a request. Call it only on routes that require one. */
export function bearerIn({ headers }: FastifyRequest): string {
  return BEARER.exec(headers.authorization!)![1]!
}

/** Accepts keys only, and no tokens of applications. */
export function requireKey(app: App, keys: Keys, gate: Gate, treeHeads?: TreeHeads): void {
  requireCredential(app, { authenticate: (text, address) => keys.authenticate(text, address), gate, treeHeads })
}

export interface Keys {
  authenticate(key: string, address: string): Promise<KeyCredential | KeyRefusal | undefined>
}

function isCredential(found: Credential | KeyRefusal | undefined): found is Credential {
  return found?.kind === 'key' || found?.kind === 'oauth'
}

// Only a client that holds the whole key is told the reason, and never the networks from which the key is accepted.
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
