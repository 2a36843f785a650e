/** What workspaces store: themselves, their keys, and their connections. */
import { secretContext, sourceKeyContext, tokensContext } from '../../base/sealed-contexts.ts'
import { allowedOrigins } from '../../storage/allowed-origins.ts'
import { users } from '../../storage/people.ts'
import type { Stored } from '../../storage/schema.ts'
import { apiKeys, boundAgents, boundLooks, connections, workspaces } from '../../storage/workspaces.ts'
import { examineLooks } from './bound-looks.ts'
import { workspaceMigrations } from './migrations.ts'

export const workspacesStored: Stored = {
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
  ],
  migrations: workspaceMigrations,
  examine: examineLooks,
}
