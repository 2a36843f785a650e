/** Stores private signing keys in the database, encrypted under SECRET_KEY, so that every host with that key can sign. */

import { SecretError } from '../../../base/secret-keys.ts'
import type { Secrets } from '../../../base/secrets.ts'
import { signingKeyContext } from '../../../storage/sealed-contexts.ts'
import type { Storage } from '../../../storage/storage.ts'
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
      await tx.log.insertSealedKey(keyId, secrets.seal(pem, signingKeyContext(keyId)))
    },
    async secure() {},
    async read(keyId, rows = storage.read.log) {
      const sealed = await rows.sealedKey(keyId)
      if (sealed === undefined) throw missing(keyId, 'its row in the table sealed_signing_keys')
      try {
        return secrets.open(sealed, signingKeyContext(keyId))
      } catch (error) {
        if (!(error instanceof SecretError)) throw error
        throw unusable(locationOf(keyId), `${error.message}. SECRET_KEY must be the same on every host`, error)
      }
    },
  })
}
