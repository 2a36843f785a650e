/** The console: where people sign in and set their workspaces up. */
import type { ConsoleDependencies } from '../../console/dependencies.ts'
import type { Feature } from '../../host/feature.ts'

export const consoleFeature = {
  name: 'console',
  needs: ['people', 'workspaces', 'claims'],
  isOptional: true,
  routes: async (services) => {
    const { consoleRoutes } = await import('../../console/console.tsx')
    return [{ scope: 'own', add: (app) => consoleRoutes(app, services) }]
  },
} satisfies Feature<ConsoleDependencies>
