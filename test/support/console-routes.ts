/** Every route of the console as it is declared, so that a test of all routes covers new ones too. */

import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { consoleRoutes } from '@claimcheck/server/features/console/console'
import { fastify } from 'fastify'

export interface ConsoleRoute {
  readonly method: 'GET' | 'POST'
  /** `/console/w/:workspace/claims` */
  readonly url: string
  /** It needs a sign-in of the last minutes, for some forms at least. */
  readonly isFresh: boolean
  /** What it declares: that it needs such a sign-in, or the reason why it needs none. */
  readonly freshSignIn: true | string | undefined
}

export async function routesOf(claimcheck: Claimcheck): Promise<readonly ConsoleRoute[]> {
  const app = fastify()
  const routes: ConsoleRoute[] = []
  app.addHook('onRoute', ({ method, url, preHandler, config }) => {
    // The routes that answer for unknown addresses, and files.
    if (url.includes('*') || url.includes('/assets/')) return
    const { freshSignIn } = (config ?? {}) as Partial<ConsoleRoute>
    const isFresh = [preHandler].flat().some((handler) => handler?.name === 'freshSignInOnly')
    for (const name of ['GET', 'POST'] as const) {
      if ([method].flat().includes(name)) routes.push({ method: name, url, isFresh, freshSignIn })
    }
  })
  await consoleRoutes(app as never, claimcheck, { admit: async () => {} })
  await app.ready()
  await app.close()
  return routes
}

/** @throws Error for a parameter that `values` does not know */
export function filled(
  { url }: Pick<ConsoleRoute, 'url'> & Partial<ConsoleRoute>,
  values: Readonly<Record<string, string>>,
): string {
  return url.replace(/:(\w+)/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the test has no value for a parameter: ${name} of ${url}`)
    return encodeURIComponent(value)
  })
}
