/** The guard of a host that has this data folder. */
import type { Anchorer } from '@claimcheck/core/plugin'
import { createChainWitness } from '@claimcheck/server/features/log/chain-witness'
import { createLogAgreement } from '@claimcheck/server/features/log/log-agreement'
import { createLogGuard, type LogGuard } from '@claimcheck/server/features/log/log-guard'
import { createLogMemories } from '@claimcheck/server/features/log/log-memories'
import { createCheckpointStore } from '@claimcheck/server/features/log/signing/checkpoint-store'
import { createHostIdentity } from '@claimcheck/server/features/log/signing/host-identity'
import { createRemoteMemory } from '@claimcheck/server/features/log/signing/remote-memory'
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
  return createLogGuard({
    storage,
    logger,
    config: { dataDir },
    logAgreement: createLogAgreement({
      storage,
      logger,
      config: {},
      hostIdentity: createHostIdentity({ config: { dataDir } }),
    }),
    lostReceipts: { report: async () => {}, end: async () => [] },
    clock: { logged() {} },
    logMemories: createLogMemories({
      storage,
      remoteMemory: createRemoteMemory({ config: {}, storage, logger }),
      chainWitness: createChainWitness({ registry: { anchorer }, storage, logger }),
      checkpointStore: createCheckpointStore({ config: { dataDir, ...named } }),
    }),
  })
}
