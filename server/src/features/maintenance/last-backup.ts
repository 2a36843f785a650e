/** When the installation was last backed up, for its metrics. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { databaseClock } from '../../storage/clock.ts'
import { insertRows, selectRow } from '../../storage/rows.ts'
import type { MigrationDb, Stored } from '../../storage/schema.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import { instant, type RowOf, table, text } from '../../storage/table.ts'

/** Those that are complete. */
const backups = table('backups', ['epoch'], { epoch: text('epoch'), madeAt: instant('made_at') })

export const maintenanceStored: Stored = {
  tables: [{ table: backups, isCopied: false }],
  migrations: { '011-maintenance': { up } },
}

async function up(db: MigrationDb): Promise<void> {
  await db.schema.createTable('backups', (table) => {
    table.text('epoch').primary()
    table.bigInteger('made_at').notNullable().index()
  })
}

export async function insertBackup(storage: Pick<Storage, 'write'>, backup: RowOf<typeof backups>, by: Acting) {
  const { epoch } = backup
  await storage.write(async (tx) => {
    await insertRows(tx.db, backups, [backup])
    const at = Math.floor(await databaseClock(tx.db)())
    tx.audit.record({ event: 'database.backed_up', at, by, subject: epoch })
  })
}

/** Undefined before the first. */
export async function lastBackup({ db }: Pick<Reads, 'db'>): Promise<Instant | undefined> {
  return (await selectRow(db, backups, 'ORDER BY made_at DESC LIMIT 1'))?.madeAt
}
