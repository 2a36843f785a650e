/** The console: where people sign in, set their workspaces up, and allow applications to act for them. */
import type { Feature } from '../../host/feature.ts'
import type { RouteGroup } from '../../http/app.ts'
import type { ConsoleDependencies } from './dependencies.ts'

export const consoleFeature = {
  name: 'console',
  needs: ['people', 'workspaces', 'claims'],
  isOptional: true,
  services: async () => {
    const { createOAuthPages } = await import('./oauth/pages.tsx')
    return { oauthPages: createOAuthPages }
  },
  routes: async (services) => {
    const [{ consoleRoutes }, { oauthEndpoints }] = await Promise.all([
      import('./console.tsx'),
      import('./oauth/endpoints.ts'),
    ])
    const groups: RouteGroup[] = [
      { scope: 'own', cost: 'page', add: (app, gate) => consoleRoutes(app, services, gate) },
    ]
    const { oauth, config, isActive } = services
    if (isActive('oauth'))
      groups.push({ scope: 'own', cost: 'oauth', add: (app) => oauthEndpoints(app, oauth, config.publicUrl) })
    return groups
  },
} satisfies Feature<ConsoleDependencies>
