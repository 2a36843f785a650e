/** The services of the log. */
import type { HostServices } from '../../host/container.ts'
import { createLogService } from '../../log/log.ts'
import { createLogArchives } from '../../log/log-archives.ts'
import { createLogGuard } from '../../log/log-guard.ts'
import { createLogWriter } from '../../log/log-writer.ts'
import { createSequencer } from '../../log/sequencer.ts'
import { createHeadMemory } from '../../log/signing/head-memory.ts'
import { createKeyVault } from '../../log/signing/key-vault.ts'
import { createSigningKeys, type SigningKeys } from '../../log/signing/signing-keys.ts'

export interface KeyDocumentOptions extends Pick<HostServices, 'registry'> {
  readonly signingKeys: SigningKeys
}

export const services = {
  vault: createKeyVault,
  headMemory: createHeadMemory,
  logGuard: createLogGuard,
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
