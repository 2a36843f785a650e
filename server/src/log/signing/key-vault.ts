/** Which vault an installation has: SQLite's host keeps its keys in files of its own, Postgres's hosts keep them in common. */

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
  return options.storage.dialect === 'postgres' ? createSealedKeys(options) : createKeyFiles(options.config)
}
