/** Measures how quickly `doctor` examines an installation, which must be sound. */

import { SCHEMA } from '@claimcheck/server/features'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { runAll } from '@claimcheck/server/storage/db'
import { openStorage } from '@claimcheck/server/storage/open'
import { copiedTables } from '@claimcheck/server/storage/schema'
import { configOf, type Installation, withOpened } from './installation.ts'
import { timed } from './statistics.ts'

/**
 * @returns leaves a second
 * @throws Error when the log has another number of leaves, or something is wrong with it
 */
export async function examine(installation: Installation, expected: number): Promise<number> {
  await analyze(installation)
  return withOpened(installation, async ({ storage }) => {
    const durationMs = await timed(async () => {
      const { problems, leaves } = await diagnose(storage, { schema: SCHEMA, database: configOf(installation) })
      if (problems.length > 0 || leaves !== expected)
        throw new Error(`${leaves} leaves, not ${expected}: ${problems.slice(0, 5).join('; ')}`)
    })
    return (1000 * expected) / durationMs
  })
}

/** Postgres does so by itself a minute after its tables have grown. Until then it plans for empty ones. */
async function analyze(installation: Installation): Promise<void> {
  const storage = await openStorage(configOf(installation), { schema: SCHEMA })
  await storage.transaction((db) => runAll(db, db.dialect.analyze(copiedTables(SCHEMA).map(({ name }) => name))))
  await storage.close()
}
