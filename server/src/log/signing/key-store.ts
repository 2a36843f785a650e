/** What every vault of private keys has in common: how keys are made and checked, whatever they are kept in. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { Signer } from '@claimcheck/core'
import type { Writes } from '../../storage/storage.ts'
import { createSigner } from './signer.ts'
import type { KeyVault } from './signing-keys.ts'

/** Where private keys are kept, each as PKCS#8 in PEM. */
export interface KeyStore {
  /** Kept before this returns, or with the transaction; a key that is kept already stays. @throws SigningError */
  keep(tx: Writes, keyId: string, pem: string): Promise<void>
  /** @throws SigningError when it is not here, or cannot be read */
  read(keyId: string): Promise<string>
  /** In words, for who has to bring a key back. */
  placeOf(keyId: string): string
}

export type SigningErrorCode = 'missing_key' | 'unusable_key'

/** Its message names the key and the place, and holds nothing of what is kept there. */
export class SigningError extends Error {
  override readonly name = 'SigningError'
  readonly code: SigningErrorCode

  constructor(code: SigningErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

export function vaultOver(store: KeyStore): KeyVault & KeyStore {
  return {
    ...store,
    async create(tx) {
      const { privateKey } = generateKeyPairSync('ed25519')
      const signer = createSigner(privateKey)
      await store.keep(tx, signer.keyId, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
      return signer
    },
    async load(keyId) {
      const signer = toSigner(await store.read(keyId), store.placeOf(keyId))
      if (signer.keyId !== keyId) throw unusable(store.placeOf(keyId), 'it is the key of another id')
      return signer
    },
  }
}

export function unusable(place: string, why: string, cause?: unknown): SigningError {
  return new SigningError('unusable_key', `the signing key ${place} cannot be used: ${why}`, { cause })
}

export function missing(keyId: string, place: string, cause?: unknown): SigningError {
  const message = `the log is signed with ${keyId}, whose private key is not here: bring back ${place}`
  return new SigningError('missing_key', message, { cause })
}

function toSigner(pem: string, place: string): Signer {
  try {
    return createSigner(createPrivateKey(pem))
  } catch (cause) {
    throw unusable(place, 'it is no private key of Ed25519', cause)
  }
}
