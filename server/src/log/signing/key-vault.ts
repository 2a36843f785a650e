/** Chooses where private signing keys are stored: in files where one host has the database to itself, in the database where hosts share it. */
import type { Secrets } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import type { Storage } from '../../storage/storage.ts'
import { createKeyFiles } from './key-files.ts'
import type { KeyStore } from './key-store.ts'
import { createSealedKeys } from './sealed-keys.ts'
import type { KeyVault } from './signing-keys.ts'

interface KeyVaultOptions {
  readonly storage: Storage
  readonly secrets: Secrets
  readonly config: Pick<Config, 'dataDir' | 'secretKey'>
}

/** Reads `secrets` only where keys are sealed, because opening the secrets may create the key file. */
export function createKeyVault(options: KeyVaultOptions): KeyVault & KeyStore {
  return options.storage.shared ? createSealedKeys(options) : createKeyFiles(options)
}
