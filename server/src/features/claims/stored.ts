/** What claims store: themselves, and their checks. */
import { checks, claims } from '../../storage/claim-row.ts'
import { eraseChecks, eraseClaims } from '../../storage/claims.ts'
import type { Stored } from '../../storage/schema.ts'
import { connections, workspaces } from '../../storage/workspaces.ts'
import { claimMigrations } from './migrations.ts'

export const claimsStored: Stored = {
  tables: [
    { table: claims, refersTo: [workspaces, connections], erase: eraseClaims },
    { table: checks, owners: { claim_id: claims }, erase: eraseChecks },
  ],
  migrations: claimMigrations,
}
