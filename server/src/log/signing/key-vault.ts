/**
 * Chooses where private signing keys are: in a token where one is configured; else in files where one host has the database to itself, and in
 * the database where hosts share it.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Secrets } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import type { Storage } from '../../storage/storage.ts'
import { createKeyFiles } from './key-files.ts'
import type { KeyStore } from './key-store.ts'
import { createTokenClient } from './pkcs11/client.ts'
import { createSealedKeys } from './sealed-keys.ts'
import type { KeyVault } from './signing-keys.ts'
import { createTokenKeys } from './token-keys.ts'

interface KeyVaultOptions {
  readonly storage: Storage
  readonly secrets: Secrets
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>
  readonly config: Pick<Config, 'dataDir' | 'secretKey' | 'signer'>
}

/** Reads `secrets` only where keys are sealed, because opening the secrets may create the key file. */
export function createKeyVault(options: KeyVaultOptions): KeyVault & KeyStore {
  const stored = options.storage.shared ? createSealedKeys(options) : createKeyFiles(options)
  const { signer } = options.config
  return signer ? createTokenKeys(createTokenClient(signer, { logger: options.logger }), stored) : stored
}
