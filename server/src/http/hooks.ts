/**
 * The hooks for all answers: their headers and their log line. Synchronous hooks use callbacks, because a promise would cost more than
 * the hook does.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'

// Public data changes with every receipt, and a few seconds of delay do no harm.
const PUBLIC_CACHE = 'public, max-age=5'

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** A year. Browsers ignore it where the page came over http. */
const ONLY_HTTPS = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }

/** Of every answer. Forbids caching; routes with public data override that. */
export function headersOfAll(publicUrl: string | undefined): Readonly<Record<string, string>> {
  const isHttps = publicUrl !== undefined && new URL(publicUrl).protocol === 'https:'
  return { ...HEADERS, ...(isHttps ? ONLY_HTTPS : {}) }
}

export function setHeaders(app: App, headers: Readonly<Record<string, string>>): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

/** A proxy in front may have routed by another Host than the one that Node takes. */
export function refuseSeveralHosts(app: App): void {
  app.addHook('onRequest', ({ raw: { rawHeaders } }, _reply, done) => {
    let hosts = 0
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index]!
      if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
    }
    done(hosts > 1 ? new HttpError(400, 'the request has several Host headers: send one') : undefined)
  })
}

/** While the server closes, each answer ends its connection: a client that keeps sending requests would otherwise keep it open forever. */
export function endConnectionsOnClose(app: App): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
}

export function cachePublicly(_request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  reply.header('cache-control', PUBLIC_CACHE)
  done()
}

/**
 * Logs the pattern of the route and never the path, because a receipt's id in the path gives access to the receipt. Logs no header and
 * no body.
 */
export function logRequests(app: App): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { id, method, routeOptions } = request
    const fields = {
      reqId: id,
      method,
      route: routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    request.log.info(fields, 'request')
    done()
  })
}
