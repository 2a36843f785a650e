/** The pages for everybody: receipts, the log, the offline checker, and the documentation. */
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { SiteDependencies } from './dependencies.ts'

export type Services = SiteDependencies & Pick<HostServices, 'config'>

export const siteFeature = {
  name: 'site',
  needs: ['log', 'receipts'],
  isOptional: true,
  access: () => ({ notFoundPage: async () => (await import('./error-page.tsx')).notFoundPage() }),
  routes: async (services) => {
    const { siteRoutes } = await import('./site.ts')
    return [{ scope: 'own', cost: 'file', add: (app) => siteRoutes(app, services) }]
  },
} satisfies Feature<Services>
