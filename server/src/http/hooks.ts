/**
 * The hooks for all answers: their headers and their log line. Synchronous hooks use callbacks, because a promise would cost more than
 * the hook does.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { ambiguityOf } from './ambiguous.ts'
import { HttpError } from './errors.ts'
import { hasKnownPayer } from './gate.ts'
import type { App } from './instance.ts'

// Public data changes with every receipt, and a few seconds of delay do no harm.
const PUBLIC_CACHE = 'public, max-age=5'

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Pages replace this policy with one of their own, which allows more.
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Paths that pages of any site may show or load: badges, receipts, the log and the keys. */
const FOR_ANY_SITE = /^\/(?:v1\/(?:receipts|log)\/|\.well-known\/poaw-keys\.json|r\/[^?]*\.(?:svg|json)(?:$|\?))/

/** Requires HTTPS for a year. Browsers ignore the header where the page came over http. */
const ONLY_HTTPS = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }

/**
 * Makes the headers of every answer, also of those that reach no route, which a plugin such as @fastify/helmet would leave out. They
 * forbid caching; routes with public data override that.
 */
export function headersOfAll(publicUrl: string | undefined): Readonly<Record<string, string>> {
  const isHttps = publicUrl !== undefined && new URL(publicUrl).protocol === 'https:'
  return { ...HEADERS, ...(isHttps ? ONLY_HTTPS : {}) }
}

export function setHeaders(app: App, headers: Readonly<Record<string, string>>): void {
  const ofPublicData = { ...headers, 'cross-origin-resource-policy': 'cross-origin' }
  app.addHook('onRequest', ({ raw }, reply, done) => {
    reply.headers(FOR_ANY_SITE.test(raw.url!) ? ofPublicData : headers)
    done()
  })
}

export function refuseAmbiguousMessages(app: App): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const problem = ambiguityOf(raw)
    if (problem === undefined) {
      done()
      return
    }
    reply.header('connection', 'close')
    done(new HttpError(400, problem))
  })
}

/**
 * The largest body that is read to its end although it is refused: more than any client sends in good faith, and little enough to be read for
 * nothing.
 */
const READ_OUT_BYTES = 1024 * 1024

/**
 * Keeps the connection of a request whose body is too large, so that Node reads the rest of it and drops it. Otherwise the connection is reset, and a
 * client that is still sending never sees the answer: nginx makes a 502 of it. Call it before `endConnectionsOnClose` of `connections.ts`.
 */
export function readOutBodies(app: App): void {
  app.addHook('onSend', ({ headers }, reply, _payload, done) => {
    const isBounded = Number(headers['content-length']) <= READ_OUT_BYTES
    if (reply.statusCode === 413 && isBounded) reply.removeHeader('connection')
    done()
  })
}

export function cachePublicly(_request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  reply.header('cache-control', PUBLIC_CACHE)
  done()
}

/**
 * Logs the pattern of each request's route and never the path, because a receipt's id in the path gives access to the receipt. Logs no header and no
 * body, and no probe that is answered: anyone may send any number, and the metrics count them. Marks the requests of strangers as `anonymous`, of
 * which the log shows a sample.
 */
export function logRequests(app: App): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { id, method, routeOptions } = request
    if (routeOptions.config.isProbe && reply.statusCode < 400) {
      done()
      return
    }
    const fields = {
      reqId: id,
      method,
      route: routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      anonymous: hasKnownPayer(request) ? undefined : true,
    }
    request.log.info(fields, 'request')
    done()
  })
}
