/** Private signing keys in the database, sealed under SECRET_KEY: every host that has that key can sign. */
import { SecretError, type Secrets } from '../../base/secrets.ts'
import type { Storage } from '../../storage/storage.ts'
import { type KeyStore, missing, unusable, vaultOver } from './key-store.ts'
import type { KeyVault } from './signing-keys.ts'

interface SealedKeysOptions {
  readonly storage: Storage
  readonly secrets: Secrets
}

export function createSealedKeys({ storage, secrets }: SealedKeysOptions): KeyVault & KeyStore {
  const placeOf = (keyId: string) => `${keyId} of the database`

  return vaultOver({
    placeOf,
    async keep(tx, keyId, pem) {
      await tx.log.insertSealedKey(keyId, secrets.seal(pem, contextOf(keyId)))
    },
    async read(keyId) {
      const sealed = await storage.read.log.sealedKey(keyId)
      if (sealed === undefined) throw missing(keyId, 'its row of sealed_signing_keys')
      try {
        return secrets.open(sealed, contextOf(keyId))
      } catch (error) {
        if (!(error instanceof SecretError)) throw error
        const why =
          'SECRET_KEY is not the key it was sealed under, which is the same on every host, or its row was changed'
        throw unusable(placeOf(keyId), why, error)
      }
    },
  })
}

/** Binds a sealed key to its id: put in the place of another one it does not open. */
function contextOf(keyId: string): string {
  return `signing-key:${keyId}`
}
