/** Generates and checks private signing keys, independent of where they are stored. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { Signer } from '@claimcheck/core/receipts'
import { CodedError } from '../../../base/errors.ts'
import type { Writes } from '../../../storage/storage.ts'
import { createSigner } from './signer.ts'
import type { KeyVault, SealedKeyRows } from './signing-keys.ts'

/** A storage for private keys, each as PKCS#8 in PEM. */
export interface KeyStore {
  /** Stores a key before it returns, or with the transaction. An existing key stays unchanged. @throws SigningError */
  insert(tx: Writes, keyId: string, pem: string): Promise<void>
  /** @throws SigningError when the key is missing or cannot be read */
  read(keyId: string, rows?: SealedKeyRows): Promise<string>
  /** Seals the keys that are stored in the clear, where the configuration has a key for that. @throws SigningError */
  secure(): Promise<void>
  /** Names the key's location in messages to the operator. */
  locationOf(keyId: string): string
}

/** `unavailable`: it may sign again later. */
export type SigningErrorCode = 'missing_key' | 'unusable_key' | 'unavailable'

/** The message names the key and its location, and contains nothing of the key itself. */
export class SigningError extends CodedError<SigningErrorCode> {
  override readonly name = 'SigningError'
}

export function createVault(store: KeyStore): KeyVault & KeyStore {
  return {
    ...store,
    problem: async () => undefined,
    async create(tx) {
      const { privateKey } = generateKeyPairSync('ed25519')
      const signer = createSigner(privateKey)
      await store.insert(tx, signer.keyId, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
      return signer
    },
    async load(keyId, rows) {
      const signer = toSigner(await store.read(keyId, rows), store.locationOf(keyId))
      if (signer.keyId !== keyId) throw unusable(store.locationOf(keyId), `its id is ${signer.keyId}`)
      return signer
    },
  }
}

export function unusable(location: string, reason: string, cause?: unknown): SigningError {
  return new SigningError('unusable_key', `the signing key ${location} cannot be used: ${reason}`, { cause })
}

export function missing(keyId: string, location: string, cause?: unknown): SigningError {
  const message = `the private key of ${keyId}, which signs the log, is missing: restore ${location}`
  return new SigningError('missing_key', message, { cause })
}

function toSigner(pem: string, location: string): Signer {
  try {
    return createSigner(createPrivateKey(pem))
  } catch (cause) {
    throw unusable(location, 'it is not an Ed25519 private key', cause)
  }
}
