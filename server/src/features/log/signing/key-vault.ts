/**
 * Chooses where private signing keys are: in the backend of the plugin that the configuration names as `signer`; without one they are stored,
 * in files where one host has the database to itself, and in the database where hosts share it.
 */
import type { Secrets } from '../../../base/secrets.ts'
import type { HostConfig } from '../../../config/config.ts'
import type { Registry } from '../../../plugins/registry.ts'
import type { Storage } from '../../../storage/storage.ts'
import { createBackendKeys } from './backend-keys.ts'
import { createKeyFiles } from './key-files.ts'
import type { KeyStore } from './key-store.ts'
import { createSealedKeys } from './sealed-keys.ts'
import type { KeyVault } from './signing-keys.ts'

interface StoredKeysOptions {
  readonly storage: Storage
  readonly secrets: Secrets
  readonly config: Pick<HostConfig, 'dataDir' | 'secretKey'>
}

interface KeyVaultOptions extends StoredKeysOptions {
  readonly registry: Pick<Registry, 'signingBackend'>
}

export function createKeyVault(options: KeyVaultOptions): KeyVault & KeyStore {
  const stored = createStoredKeys(options)
  const { signingBackend } = options.registry
  return signingBackend ? createBackendKeys(signingBackend, stored) : stored
}

/** Reads `secrets` only where keys are sealed, because opening the secrets may create the key file. */
export function createStoredKeys(options: StoredKeysOptions): KeyVault & KeyStore {
  return options.storage.shared ? createSealedKeys(options) : createKeyFiles(options)
}
