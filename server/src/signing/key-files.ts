/** Private signing keys as files: one a key, in a folder for their owner alone. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fromBase64url, keyIdOf, type Signer, signedMessage } from '@claimcheck/core'
import type { Config } from '../config.ts'
import { readPrivateFile, writeNewFile } from '../files.ts'
import type { KeyVault } from './signing-keys.ts'

// On the thread pool: the event loop goes on with other requests meanwhile.
const signInPool = promisify(sign) as (algorithm: null, data: Uint8Array, key: KeyObject) => Promise<Buffer>

export type SigningErrorCode = 'missing_key' | 'unusable_key_file'

export class SigningError extends Error {
  override readonly name = 'SigningError'
  readonly code: SigningErrorCode

  constructor(code: SigningErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

export function createKeyFiles({ dataDir }: Pick<Config, 'dataDir'>): KeyVault & { create(): Promise<Signer> } {
  const pathOf = (keyId: string) => join(dataDir, 'signing-keys', `${keyId.replace('ed25519:', '')}.pem`)

  return {
    async create() {
      const { privateKey } = generateKeyPairSync('ed25519')
      const signer = createSigner(privateKey)
      const path = pathOf(signer.keyId)
      try {
        writeNewFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
      } catch (cause) {
        throw unusable(path, `it cannot be written: ${(cause as Error).message}`, cause)
      }
      return signer
    },
    async load(keyId) {
      const path = pathOf(keyId)
      const signer = readSigner(path, keyId)
      if (signer.keyId !== keyId) throw unusable(path, 'it is the key of another id')
      return signer
    },
  }
}

function readSigner(path: string, keyId: string): Signer {
  let pem: string
  try {
    pem = readPrivateFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unusable(path, (error as Error).message, error)
    const message = `the log is signed with ${keyId}, whose private key is not here: bring back ${path}`
    throw new SigningError('missing_key', message, { cause: error })
  }
  try {
    return createSigner(createPrivateKey(pem))
  } catch (cause) {
    throw unusable(path, 'it is no private key of Ed25519', cause)
  }
}

function unusable(path: string, why: string, cause?: unknown): SigningError {
  return new SigningError('unusable_key_file', `the signing key ${path} cannot be used: ${why}`, { cause })
}

/** Signs with node:crypto, many times as fast as what runs in browsers; the key stays in here. */
export function createSigner(privateKey: KeyObject): Signer {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  const publicKey = fromBase64url(x ?? '', 32)
  if (privateKey.asymmetricKeyType !== 'ed25519' || !publicKey) throw new TypeError('not an Ed25519 key')
  const keyId = keyIdOf(publicKey)
  return {
    keyId,
    publicKey,
    async sign(domain, text) {
      const value = await signInPool(null, signedMessage(domain, text), privateKey)
      return { alg: 'Ed25519', key_id: keyId, value: value.toString('base64url') }
    },
  }
}
