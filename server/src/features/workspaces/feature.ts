/** Workspaces: teams, with their API keys, their connections to destinations and the sites that may use their keys. */

import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { allowedOrigins } from '../../storage/allowed-origins.ts'
import { holders } from '../../storage/holders.ts'
import { users } from '../../storage/people.ts'
import { agentsKeyContext, secretContext, sourceKeyContext, tokensContext } from '../../storage/sealed-contexts.ts'
import { apiKeys, boundAgents, boundLooks, connections, workspaces } from '../../storage/workspaces.ts'
import type { AllowedOrigins } from './allowed-origins.ts'
import { examineLooks } from './bound-looks.ts'
import { addConnectionCommands } from './commands/connection.ts'
import { addKeyCommands } from './commands/key.ts'
import { addWorkspaceCommands } from './commands/workspace.ts'
import { workspacesConfig } from './config.ts'
import type { ConnectionService } from './connections.ts'
import type { KeyService } from './keys.ts'
import { workspaceMigrations } from './migrations.ts'

export interface Services extends Pick<HostServices, 'registry' | 'storage'> {
  readonly connections: ConnectionService
  readonly keys: KeyService
  readonly allowedOrigins: AllowedOrigins
  readonly domainWorker: Worker
}

export const workspacesFeature = {
  name: 'workspaces',
  stored: {
    tables: [
      { table: workspaces, owners: { paid_by: users } },
      { table: apiKeys, owners: { workspace_id: workspaces }, refersTo: [users] },
      { table: boundAgents, owners: { workspace_id: workspaces } },
      { table: boundLooks, owners: { workspace_id: workspaces } },
      {
        table: connections,
        owners: { workspace_id: workspaces },
        refersTo: [users],
        sealed: {
          sealed_secrets: ([id], name) => secretContext(id!, name),
          sealed_tokens: ([id], name) => tokensContext(id!, name),
          source_key: ([id]) => sourceKeyContext(id!),
        },
      },
      { table: allowedOrigins, refersTo: [workspaces] },
      {
        table: holders,
        owners: { workspace_id: workspaces },
        sealed: { agents_key: ([workspaceId]) => agentsKeyContext(workspaceId!) },
      },
    ] as const,
    migrations: workspaceMigrations,
    examine: examineLooks,
  },
  auditWords: {
    'agent.released': 'let all keys claim for an agent again',
    'connection.added': 'connected a destination',
    'connection.credentials_replaced': 'replaced credentials of a connection',
    'connection.expiring': 'saw that the credentials of a connection end soon',
    'connection.failing': 'could not read a connection any more',
    'connection.recovered': 'read a connection again',
    'connection.refresh_refused': 'got no access token for the refresh token of a connection',
    'connection.removed': 'disconnected a destination',
    'connection.renamed': 'renamed a connection',
    'connection.tested': 'tested a connection',
    'key.changed': 'changed an API key',
    'key.created': 'created an API key',
    'key.revoked': 'revoked an API key',
    'key.rotated': 'replaced an API key by a new one',
    'workspace.created': 'made the workspace',
    'workspace.deleted': 'deleted a workspace',
    'workspace.domain_changed': 'named the domain of a workspace, or took it away',
    'workspace.domain_lost': 'found the record of a domain missing',
    'workspace.domain_proven': 'found the record of a domain',
    'workspace.renamed': 'renamed the workspace',
    'workspace.sites_changed': 'changed from which sites scripts may submit claims to a workspace',
  },
  config: workspacesConfig,
  services: async () => (await import('./services.ts')).services,
  closes: ['activity', 'connections'],
  workers: ({ domainWorker }) => [domainWorker],
  prepare: ({ keys }) => keys.renewLooks(),
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
