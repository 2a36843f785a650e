/** Which vault an installation has: a host that has the database to itself keeps its keys in files; hosts that share one keep them there. */

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
  readonly config: Pick<Config, 'dataDir'>
}

/** Asks for `secrets` only where keys are sealed. */
export function createKeyVault(options: KeyVaultOptions): KeyVault & KeyStore {
  return options.storage.shared ? createSealedKeys(options) : createKeyFiles(options.config)
}
