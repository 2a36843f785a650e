/** Makes signers of the service's own keys. The private key never leaves its signer. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { fromBase64url, keyIdOf, type Signer, signedMessage } from '@claimcheck/core/receipts'

/** @throws TypeError for a key of another kind */
export function createSigner(privateKey: KeyObject): Signer {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  const publicKey = fromBase64url(x ?? '', 32)
  if (privateKey.asymmetricKeyType !== 'ed25519' || !publicKey) throw new TypeError('not an Ed25519 key')
  const keyId = keyIdOf(publicKey)
  return {
    keyId,
    publicKey,
    // At once, in this thread: a signature takes about as long as waking another one.
    async sign(domain, body) {
      const value = sign(null, signedMessage(domain, body), privateKey).toString('base64url')
      return { alg: 'Ed25519', key_id: keyId, value }
    },
  }
}
