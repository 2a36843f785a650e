/** The guard of a host that has this data folder. */
import type { Anchorer } from '@claimcheck/core/plugin'
import { createLogAgreement } from '@claimcheck/server/features/log/log-agreement'
import { createLogGuard, type LogGuard } from '@claimcheck/server/features/log/log-guard'
import { createChainMemory } from '@claimcheck/server/features/log/memory/chain-memory'
import { createHostIdentity } from '@claimcheck/server/features/log/memory/host-identity'
import { createLogMemories } from '@claimcheck/server/features/log/memory/memories'
import type { Storage } from '@claimcheck/server/storage/storage'

/** @param anchorer what the plugin of the anchors has of it @param headMemory a folder apart */
export function openLogGuard(
  storage: Storage,
  dataDir: string,
  anchorer?: Pick<Anchorer, 'chain' | 'scheme' | 'attested'>,
  headMemory?: string,
): LogGuard {
  const named = headMemory === undefined ? {} : { headMemory: { folder: headMemory, isDefault: false } }
  const logger = { info() {}, warn() {}, error() {} }
  const hostIdentity = createHostIdentity({ config: { dataDir } })
  return createLogGuard({
    storage,
    logger,
    config: { dataDir },
    logAgreement: createLogAgreement({ storage, logger, config: {}, hostIdentity }),
    lostReceipts: { report: async () => {}, end: async () => [] },
    clock: { logged() {} },
    logMemories: createLogMemories({
      storage,
      logger,
      hostIdentity,
      chainMemory: createChainMemory({ registry: { anchorer }, storage, logger }),
      config: { dataDir, ...named },
    }),
  })
}
