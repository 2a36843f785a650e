/** The services of the log. */
import type { HostServices } from '../../host/container.ts'
import { createChainWitness } from './chain-witness.ts'
import { createDurabilityWarnings } from './durability-warnings.ts'
import { createLogService } from './log.ts'
import { createLogAgreement } from './log-agreement.ts'
import { createLogArchives } from './log-archives.ts'
import { createLogGuard } from './log-guard.ts'
import { createLogMemories } from './log-memories.ts'
import { createLogWatch } from './log-watch.ts'
import { createLogWitness } from './log-witness.ts'
import { createLogWriter } from './log-writer.ts'
import { createLostReceipts } from './lost-receipts.ts'
import { createSequencer } from './sequencer.ts'
import { createCheckpointStore } from './signing/checkpoint-store.ts'
import { createHostIdentity } from './signing/host-identity.ts'
import { createKeyVault } from './signing/key-vault.ts'
import { createRemoteMemory } from './signing/remote-memory.ts'
import { createSignedReceipts } from './signing/signed-receipts.ts'
import { createSigningKeys, type SigningKeys } from './signing/signing-keys.ts'

export interface KeyDocumentOptions extends Pick<HostServices, 'registry'> {
  readonly signingKeys: SigningKeys
}

export const services = {
  vault: createKeyVault,
  hostIdentity: createHostIdentity,
  checkpointStore: createCheckpointStore,
  remoteMemory: createRemoteMemory,
  chainWitness: createChainWitness,
  logMemories: createLogMemories,
  logAgreement: createLogAgreement,
  signedReceipts: createSignedReceipts,
  lostReceipts: createLostReceipts,
  logGuard: createLogGuard,
  logWatch: createLogWatch,
  logWitness: createLogWitness,
  durabilityWarnings: createDurabilityWarnings,
  signingKeys: createSigningKeys,
  logWriter: createLogWriter,
  sequencer: createSequencer,
  archives: createLogArchives,
  log: createLogService,
  keyDocument:
    ({ signingKeys, registry }: KeyDocumentOptions) =>
    () =>
      signingKeys.document(registry.anchorer?.identity()),
}
