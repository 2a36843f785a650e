/** What happens to every answer: its headers, and its line in the log. Hooks that wait for nothing call back: promises would cost more than they do. */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { App } from './instance.ts'

// What is public changes with every receipt; so much delay is nobody's loss.
const PUBLIC_CACHE = 'public, max-age=5'

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Nothing is kept by caches but what says so. */
export function setHeaders(app: App): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS)
    done()
  })
}

/** While the server closes, each answer is the last on its connection: clients that keep asking would keep it open for ever. */
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

/** The route's pattern and never the address itself: an id in it would open a receipt. No header, no body. */
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
