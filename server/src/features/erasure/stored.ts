/** What erasure stores: how long workspaces keep content, and what was erased. */
import { claims } from '../../storage/claim-row.ts'
import { erasures } from '../../storage/erasures.ts'
import { retentions } from '../../storage/retentions.ts'
import type { Stored } from '../../storage/schema.ts'
import { workspaces } from '../../storage/workspaces.ts'
import { examineErasures } from './examine.ts'
import { erasureMigrations } from './migrations.ts'

export const erasureStored: Stored = {
  tables: [
    { table: retentions, owners: { workspace_id: workspaces } },
    { table: erasures, owners: { claim_id: claims } },
  ],
  migrations: erasureMigrations,
  examine: examineErasures,
}
