/** The services of the log. */
import type { HostServices } from '../../host/container.ts'
import { createDurabilityWarnings } from './durability-warnings.ts'
import { createLogService } from './log.ts'
import { createLogAgreement } from './log-agreement.ts'
import { createLogArchives } from './log-archives.ts'
import { createLogGuard } from './log-guard.ts'
import { createLogPlanner } from './log-planner.ts'
import { createLogWatch } from './log-watch.ts'
import { createLogWitness } from './log-witness.ts'
import { createLostReceipts } from './lost-receipts.ts'
import { createChainMemory } from './memory/chain-memory.ts'
import { createHostIdentity } from './memory/host-identity.ts'
import { createLogMemories } from './memory/memories.ts'
import { createSequencer } from './sequencer.ts'
import { createKeyVault } from './signing/key-vault.ts'
import { createSignedReceipts } from './signing/signed-receipts.ts'
import { createSigningKeys, type SigningKeys } from './signing/signing-keys.ts'

export interface KeyDocumentOptions extends Pick<HostServices, 'registry'> {
  readonly signingKeys: SigningKeys
}

export const services = {
  vault: createKeyVault,
  hostIdentity: createHostIdentity,
  chainMemory: createChainMemory,
  logMemories: createLogMemories,
  logAgreement: createLogAgreement,
  signedReceipts: createSignedReceipts,
  lostReceipts: createLostReceipts,
  logGuard: createLogGuard,
  logWatch: createLogWatch,
  logWitness: createLogWitness,
  durabilityWarnings: createDurabilityWarnings,
  signingKeys: createSigningKeys,
  logPlanner: createLogPlanner,
  sequencer: createSequencer,
  archives: createLogArchives,
  log: createLogService,
  keyDocument:
    ({ signingKeys, registry }: KeyDocumentOptions) =>
    () =>
      signingKeys.document(registry.anchorer?.identity()),
}
