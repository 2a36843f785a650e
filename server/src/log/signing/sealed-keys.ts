/** Stores private signing keys in the database, encrypted under SECRET_KEY, so that every host with that key can sign. */
import { SecretError, type Secrets } from '../../base/secrets.ts'
import type { Storage } from '../../storage/storage.ts'
import { createVault, type KeyStore, missing, unusable } from './key-store.ts'
import type { KeyVault } from './signing-keys.ts'

interface SealedKeysOptions {
  readonly storage: Storage
  readonly secrets: Secrets
}

export function createSealedKeys({ storage, secrets }: SealedKeysOptions): KeyVault & KeyStore {
  const locationOf = (keyId: string) => `${keyId} in the database`

  return createVault({
    locationOf,
    async insert(tx, keyId, pem) {
      await tx.log.insertSealedKey(keyId, secrets.seal(pem, contextOf(keyId)))
    },
    async read(keyId) {
      const sealed = await storage.read.log.sealedKey(keyId)
      if (sealed === undefined) throw missing(keyId, 'its row in the table sealed_signing_keys')
      try {
        return secrets.open(sealed, contextOf(keyId))
      } catch (error) {
        if (!(error instanceof SecretError)) throw error
        const reason =
          'SECRET_KEY is not the key that encrypted it, or the row was changed. SECRET_KEY must be the same on every host'
        throw unusable(locationOf(keyId), reason, error)
      }
    },
  })
}

/** Binds a sealed key to its id: in the row of another key it does not open. */
function contextOf(keyId: string): string {
  return `signing-key:${keyId}`
}
