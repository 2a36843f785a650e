/** Stores private signing keys as files, one for each key, in a folder that only their owner can read. */
import { join } from 'node:path'
import { readPrivateFile, writeNewFile } from '../../base/files.ts'
import type { Config } from '../../config/config.ts'
import { createVault, type KeyStore, missing, unusable } from './key-store.ts'
import type { KeyVault } from './signing-keys.ts'

export function createKeyFiles({ dataDir }: Pick<Config, 'dataDir'>): KeyVault & KeyStore {
  const pathOf = (keyId: string) => join(dataDir, 'signing-keys', `${keyId.replace('ed25519:', '')}.pem`)

  return createVault({
    locationOf: pathOf,
    async insert(_tx, keyId, pem) {
      const path = pathOf(keyId)
      try {
        writeNewFile(path, pem)
      } catch (cause) {
        throw unusable(path, `cannot write the file: ${(cause as Error).message}`, cause)
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
