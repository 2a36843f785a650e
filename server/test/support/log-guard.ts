/** The guard of a host that has this data folder. */
import { createLogGuard, type LogGuard } from '@claimcheck/server/log/log-guard'
import { createHeadMemory } from '@claimcheck/server/log/signing/head-memory'
import type { Storage } from '@claimcheck/server/storage/storage'

export function openLogGuard(storage: Storage, dataDir: string): LogGuard {
  const logger = { info() {}, error() {} }
  return createLogGuard({
    storage,
    logger,
    clock: { logged() {} },
    headMemory: createHeadMemory({ config: { dataDir } }),
  })
}
