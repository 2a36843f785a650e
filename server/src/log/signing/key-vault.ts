/** Chooses where private signing keys are stored: in files with SQLite, in the database with Postgres, whose hosts share them. */
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

/** Reads `secrets` only for Postgres, because opening the secrets creates the key file. */
export function createKeyVault(options: KeyVaultOptions): KeyVault & KeyStore {
  return options.storage.dialect === 'postgres' ? createSealedKeys(options) : createKeyFiles(options.config)
}
