/**
 * The hooks for all answers: their headers and their log line. Synchronous hooks use callbacks, because a promise would cost more than
 * the hook does.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { App } from './instance.ts'

// Public data changes with every receipt, and a few seconds of delay do no harm.
const PUBLIC_CACHE = 'public, max-age=5'

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Forbids caching; routes with public data override that. */
export function setHeaders(app: App): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS)
    done()
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
    const { method, routeOptions } = request
    const fields = {
      method,
      route: routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    request.log.info(fields, 'request')
    done()
  })
}
