/** Answers 405 when a path exists, but not with this method. */
import type { HTTPMethods } from 'fastify'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies HTTPMethods[]

/** Records the routes declared after this call. Call the returned function after them: it adds refusals of other methods. */
export function refuseOtherMethods(app: App): () => void {
  const allowed = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = allowed.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  })

  return () => {
    for (const [url, methods] of [...allowed]) {
      if (!url.startsWith('/v1/') && !url.startsWith('/.well-known/') && !/^\/mcp\/?$/.test(url)) continue
      const allow = [...methods].sort().join(', ')
      app.route({
        url,
        method: METHODS.filter((method) => !methods.has(method)),
        config: { cost: 'small' },
        schema: { hide: true },
        // Refuses before the body is read.
        onRequest: (_request, reply, done) => {
          reply.header('allow', allow)
          done(new HttpError(405, `the method must be one of ${allow}`))
        },
        handler: async () => {},
      })
    }
  }
}
