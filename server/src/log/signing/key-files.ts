/** Private signing keys as files: one a key, in a folder for their owner alone. */
import { join } from 'node:path'
import { readPrivateFile, writeNewFile } from '../../base/files.ts'
import type { Config } from '../../config/config.ts'
import { type KeyStore, missing, unusable, vaultOver } from './key-store.ts'
import type { KeyVault } from './signing-keys.ts'

export function createKeyFiles({ dataDir }: Pick<Config, 'dataDir'>): KeyVault & KeyStore {
  const pathOf = (keyId: string) => join(dataDir, 'signing-keys', `${keyId.replace('ed25519:', '')}.pem`)

  return vaultOver({
    placeOf: pathOf,
    async keep(_tx, keyId, pem) {
      const path = pathOf(keyId)
      try {
        writeNewFile(path, pem)
      } catch (cause) {
        throw unusable(path, `it cannot be written: ${(cause as Error).message}`, cause)
      }
    },
    async read(keyId) {
      const path = pathOf(keyId)
      try {
        return readPrivateFile(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw missing(keyId, path, error)
        throw unusable(path, (error as Error).message, error)
      }
    },
  })
}
