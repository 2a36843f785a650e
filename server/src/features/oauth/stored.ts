/** What OAuth stores: machines. Codes, tokens and grants are records of people. */
import { machines } from '../../storage/machines.ts'
import { users } from '../../storage/people.ts'
import type { Stored } from '../../storage/schema.ts'
import { workspaces } from '../../storage/workspaces.ts'
import { oauthMigrations } from './migrations.ts'

export const oauthStored: Stored = {
  tables: [{ table: machines, owners: { workspace_id: workspaces }, refersTo: [users] }],
  migrations: oauthMigrations,
}
