/** The route that lists the workspace's connections. */
import { ConnectionList } from '@claimcheck/core/api'
import { credentialOf } from '../../../http/credential.ts'
import type { App } from '../../../http/instance.ts'
import { errors, NEEDS_KEY } from '../../../http/route.ts'
import type { ConnectionService } from '../connections.ts'
import { toConnectionList } from '../wire.ts'

interface ConnectionRoutesOptions {
  readonly connections: Pick<ConnectionService, 'list'>
  /** The actions that need no connection. */
  readonly publicActions: readonly string[]
}

export function connectionRoutes(app: App, { connections, publicActions }: ConnectionRoutesOptions): void {
  app.get('/v1/connections', {
    schema: {
      operationId: 'listConnections',
      tags: ['Workspace'],
      summary: "List the workspace's active connections, oldest first",
      security: NEEDS_KEY,
      response: { 200: ConnectionList, ...errors(401, 403, 429, 503) },
    },
    handler: async (request) =>
      toConnectionList(await connections.list(credentialOf(request).workspaceId), publicActions),
  })
}
