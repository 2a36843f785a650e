/** Makes signers of the service's own keys. The private key never leaves its signer. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { bytesEqual, fromBase64url, keyIdOf, type Signer, signedMessage } from '@claimcheck/core'
import { loadSodium, type Sodium } from './sodium.ts'

/** Returns the 64 bytes of a signature. */
type SignBytes = (message: Uint8Array) => Buffer

const SEED_BYTES = 32

/**
 * @param sodium null: OpenSSL signs, which takes 1.7 times as long
 * @throws TypeError for a key of another kind
 */
export function createSigner(privateKey: KeyObject, sodium: Sodium | null = loadSodium()): Signer {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  const publicKey = fromBase64url(x ?? '', 32)
  if (privateKey.asymmetricKeyType !== 'ed25519' || !publicKey) throw new TypeError('not an Ed25519 key')
  const keyId = keyIdOf(publicKey)
  const signBytes = sodium
    ? signingBySodium(sodium, privateKey, publicKey)
    : (message: Uint8Array) => sign(null, message, privateKey)
  return {
    keyId,
    publicKey,
    // At once: to wake a thread costs as much as the signature.
    async sign(domain, text) {
      const value = signBytes(signedMessage(domain, text)).toString('base64url')
      return { alg: 'Ed25519', key_id: keyId, value }
    },
  }
}

/** The key is in memory that is not swapped out, and that nothing writes to. */
function signingBySodium(sodium: Sodium, privateKey: KeyObject, publicKey: Uint8Array): SignBytes {
  const document = privateKey.export({ type: 'pkcs8', format: 'der' })
  const secretKey = sodium.sodium_malloc(sodium.crypto_sign_SECRETKEYBYTES)
  const derived = Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES)
  // RFC 8410: the seed is at the document's end.
  sodium.crypto_sign_seed_keypair(derived, secretKey, document.subarray(-SEED_BYTES))
  document.fill(0)
  sodium.sodium_mprotect_readonly(secretKey)
  if (!bytesEqual(derived, publicKey)) throw new TypeError('libsodium derives another public key than OpenSSL')
  return (message) => {
    const signature = Buffer.allocUnsafe(sodium.crypto_sign_BYTES)
    sodium.crypto_sign_detached(signature, message, secretKey)
    return signature
  }
}
