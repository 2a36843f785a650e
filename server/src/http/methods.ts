/** Answers 405 where an address exists and the method does not. */
import type { HTTPMethods } from 'fastify'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies HTTPMethods[]

/** Gathers the routes declared after it. The function it returns declares the rest, once all of them are known. */
export function refuseOtherMethods(app: App): () => void {
  const allowed = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = allowed.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  })

  return () => {
    for (const [url, methods] of [...allowed]) {
      if (!url.startsWith('/v1/') && !url.startsWith('/.well-known/')) continue
      const allow = [...methods].sort().join(', ')
      app.route({
        url,
        method: METHODS.filter((method) => !methods.has(method)),
        schema: { hide: true },
        handler: async (_request, reply) => {
          reply.header('allow', allow)
          throw new HttpError(405, `the method must be one of ${allow}`)
        },
      })
    }
  }
}
