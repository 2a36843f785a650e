/**
 * Rules for scripts of other sites that use the API. Any site may read: no answer depends on a cookie, and a client with a key can ask without a
 * browser. To submit claims, the workspace of the key has to list the site.
 */
import { TREE_HEAD_FIELD } from '@claimcheck/core/log'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { credentialOf } from './credential.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'

export interface AllowedOrigins {
  /** Tells whether any workspace lists the origin, or did seconds ago. */
  isListed(origin: string): Promise<boolean>
  /** Tells whether this workspace lists the origin now. */
  isListedBy(workspaceId: string, origin: string): Promise<boolean>
}

const EXPOSED_HEADERS = [
  // Browser clients find the way to a token by this header.
  'www-authenticate',
  // Headers of rate limits, as the gate sets them.
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  TREE_HEAD_FIELD,
]
const READS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Headers of answers that any site may read. */
export const READABLE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
}
const OF_READS: FastifyCorsOptions = {
  methods: ['GET', 'HEAD'],
  exposedHeaders: EXPOSED_HEADERS,
  strictPreflight: false,
}
const REFUSED: FastifyCorsOptions = { origin: false, strictPreflight: false }

/**
 * Lets other sites read, and submit where a workspace lists them. A preflight carries no key, so it passes for an origin that any workspace lists.
 * Browsers may keep its answer for seconds.
 */
export async function allowOtherSites(api: App, allowedOrigins: AllowedOrigins): Promise<void> {
  const delegator = (request: FastifyRequest, answer: (error: Error | null, options?: FastifyCorsOptions) => void) => {
    const { origin } = request.headers
    if (origin === undefined || !isSubmission(request)) return answer(null, OF_READS)
    allowedOrigins.isListed(origin).then((isListed) => answer(null, isListed ? listed(origin) : REFUSED), answer)
  }
  await new Promise<void>((resolve, reject) => {
    cors(onlyForOrigins(api), { delegator }, (error) => (error ? reject(error) : resolve()))
  })
}

/**
 * Limits CORS to requests that name an origin. Most name none, and get the headers that any site may read without the library's work, a seventh of
 * the time in which a receipt is served.
 */
function onlyForOrigins(api: App): App {
  const addHook = (name: 'onRequest', hook: onRequestHookHandler) =>
    api.addHook(name, (request, reply, done) => {
      if (request.headers.origin !== undefined || request.method === 'OPTIONS')
        return hook.call(api, request, reply, done)
      reply.headers(READABLE)
      done()
    })
  return Object.create(api, { addHook: { value: addHook } })
}

function listed(origin: string): FastifyCorsOptions {
  return { ...OF_READS, origin: [origin], methods: ['GET', 'HEAD', 'POST'], maxAge: 5 }
}

/**
 * Refuses submissions of sites that the workspace does not list. Call it after the credential is required. It does not rely on preflights:
 * they pass for what other workspaces list, and browsers send a POST after the preflight of a GET.
 */
export function refuseOtherSites(keyed: App, allowedOrigins: AllowedOrigins): void {
  keyed.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || READS.has(request.method) || !isOfAnotherSite(request)) return done()
    allowedOrigins.isListedBy(credentialOf(request).workspaceId, origin).then((isOwn) => {
      if (isOwn) return done()
      reply.removeHeader('access-control-allow-origin')
      done(new HttpError(403, 'the workspace of this key does not list the site: an owner does that under Developers'))
    }, done)
  })
}

/** Tells whether a script of another site sent a request, by headers that pages cannot choose. Extensions have origins of their own, and may ask. */
function isOfAnotherSite({ headers: { origin = '', 'sec-fetch-site': from } }: FastifyRequest): boolean {
  return /^(https?:|null$)/.test(origin) && from !== 'same-origin'
}

/** Tells whether a request submits to the API. Other protocols (`/mcp`) check the origin themselves. */
function isSubmission({ method, headers, url }: FastifyRequest): boolean {
  const asked = method === 'OPTIONS' ? (headers['access-control-request-method'] ?? method) : method
  return url.startsWith('/v1/') && !READS.has(asked)
}
