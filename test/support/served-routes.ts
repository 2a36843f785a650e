/** Every route that the service serves, as it declares it: import this before an installation starts. A test of all routes covers new ones, too. */
import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'

export interface ServedRoute {
  readonly method: 'GET' | 'POST'
  /** `/console/w/:workspace/claims` */
  readonly url: string
}

const refusing = new Set(['PUT', 'PATCH', 'DELETE'])
const routes = new Map<string, ServedRoute>()

// Fastify tells of each instance that it makes.
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { readonly fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    const methods = [method].flat()
    // Files; and what answers that there is nothing, or not by this method.
    if (url.includes('/assets/') || url === '*' || url === '/console/*' || methods.some((name) => refusing.has(name)))
      return
    for (const name of ['GET', 'POST'] as const) {
      if (methods.includes(name)) routes.set(`${name} ${url}`, { method: name, url })
    }
  })
})

/** Of the installations that were started so far. */
export function servedRoutes(): readonly ServedRoute[] {
  return [...routes.values()]
}
