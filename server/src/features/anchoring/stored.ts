/** What anchoring stores: anchors. */
import { anchors } from '../../storage/anchor-row.ts'
import type { Stored } from '../../storage/schema.ts'
import { examineAnchors } from './examine.ts'
import { anchoringMigrations } from './migrations.ts'

export const anchoringStored: Stored = {
  tables: [{ table: anchors }],
  migrations: anchoringMigrations,
  examine: examineAnchors,
}
