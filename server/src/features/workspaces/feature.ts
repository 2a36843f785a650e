/** Workspaces: what a team shares, with its API keys, its connections to destinations and the sites that may use its keys. */

import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { AllowedOrigins } from './allowed-origins.ts'
import { workspaceAuditWords } from './audit-words.ts'
import { addConnectionCommands } from './commands/connection.ts'
import { addKeyCommands } from './commands/key.ts'
import { addWorkspaceCommands } from './commands/workspace.ts'
import { workspacesConfig } from './config.ts'
import type { ConnectionService } from './connections.ts'
import type { KeyService } from './keys.ts'
import { workspacesStored } from './stored.ts'

export interface Services extends Pick<HostServices, 'registry' | 'storage'> {
  readonly connections: ConnectionService
  readonly keys: KeyService
  readonly allowedOrigins: AllowedOrigins
}

export const workspacesFeature = {
  name: 'workspaces',
  stored: workspacesStored,
  auditWords: workspaceAuditWords,
  config: workspacesConfig,
  services: async () => {
    const { services } = await import('./services.ts')
    return services
  },
  closes: ['activity', 'connections'],
  async prepare({ connections, keys }) {
    await connections.fillSourceKeys()
    await keys.renewLooks()
  },
  access: ({ keys, allowedOrigins }) => ({
    keys,
    allowedOrigins,
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'svc_sk_...' } },
  }),
  routes: async ({ connections, registry }) => {
    const [{ connectionRoutes }, { whoamiRoutes }] = await Promise.all([
      import('./routes/connections.ts'),
      import('./routes/whoami.ts'),
    ])
    const publicActions = [...registry.publicActions(), ...registry.publicAliases()]
    return [
      { scope: 'key', cost: 'read', add: (app) => connectionRoutes(app, { connections, publicActions }) },
      { scope: 'credential', cost: 'read', add: whoamiRoutes },
    ]
  },
  metrics:
    ({ storage }) =>
    ({ gauge }) => {
      const connections = gauge(
        'connections',
        'Number of connections, by how the last read of the destination went: works, failing, or refused',
        ['state'],
      )
      return async () => {
        const { active, refused, failing } = await storage.read.connections.counts()
        connections.set({ state: 'refused' }, refused)
        connections.set({ state: 'failing' }, failing)
        connections.set({ state: 'works' }, active - refused - failing)
      }
    },
  commands(program, withServices) {
    addWorkspaceCommands(program, withServices)
    addKeyCommands(program, withServices)
    addConnectionCommands(program, withServices)
  },
} satisfies Feature<Services>
