/** The server of the Model Context Protocol, by which coding agents submit claims and check receipts. */
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { McpParts } from './routes.ts'

export type Services = Omit<McpParts, 'profiles' | 'publicActions' | 'publicUrl'> &
  Pick<HostServices, 'registry' | 'config'>

export const mcpFeature = {
  name: 'mcp',
  needs: ['claims', 'events', 'oauth'],
  isOptional: true,
  routes: async (services) => {
    const { mcpRoutes } = await import('./routes.ts')
    const { claims, receipts, log, eventFeed, connections, keys, tokens, oauth, published, keyDocument, logger } =
      services
    const { registry, config } = services
    const parts: McpParts = {
      ...{ claims, receipts, log, eventFeed, connections, keys, tokens, oauth, published, keyDocument, logger },
      profiles: registry.profiles(),
      publicActions: [...registry.publicActions(), ...registry.publicAliases()],
      publicUrl: config.publicUrl,
    }
    return [{ scope: 'api', cost: 'mcp', add: (app, gate, { treeHeads }) => mcpRoutes(app, parts, gate, treeHeads) }]
  },
} satisfies Feature<Services>
