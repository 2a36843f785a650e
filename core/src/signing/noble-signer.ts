/** A signer with its key in memory that runs anywhere, also in browsers. */
import { ed25519 } from '@noble/curves/ed25519.js'
import { toBase64url } from '../encoding.ts'
import { keyIdOf } from './key-set.ts'
import { signedMessage } from './message.ts'
import type { Signer } from './signer.ts'

/** Creates a signer with a key in memory. @param secretKey the 32 bytes that RFC 8032 calls the private key */
export function createNobleSigner(secretKey: Uint8Array): Signer {
  const publicKey = ed25519.getPublicKey(secretKey)
  const keyId = keyIdOf(publicKey)
  return {
    keyId,
    publicKey,
    async sign(domain, body) {
      const value = toBase64url(ed25519.sign(signedMessage(domain, body), secretKey))
      return { alg: 'Ed25519', key_id: keyId, value }
    },
  }
}
