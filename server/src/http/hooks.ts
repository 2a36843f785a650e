/** What happens to every answer: its headers, and its line in the log. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './instance.ts'

// What is public changes with every receipt; so much delay is nobody's loss.
const PUBLIC_CACHE = 'public, max-age=5'

/** Nothing is kept by caches but what says so. */
export function setHeaders(app: App): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
  })
}

/** While the server closes, each answer is the last on its connection: clients that keep asking would keep it open for ever. */
export function endConnectionsOnClose(app: App): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close')
  })
}

export async function cachePublicly(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('cache-control', PUBLIC_CACHE)
}

/** The route's pattern and never the address itself: an id in it would open a receipt. No header, no body. */
export function logRequests(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request
    const fields = {
      method,
      route: routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    request.log.info(fields, 'request')
  })
}
