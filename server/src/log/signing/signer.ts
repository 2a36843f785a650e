/** Signs with node:crypto, which is many times as fast as core's portable code. The private key never leaves the signer. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { DOMAINS, fromBase64url, keyIdOf, type Signer, signedMessage } from '@claimcheck/core'

// The pool signs while the event loop handles other requests. With two processors there is none to spare for it, and to wake a thread costs
// as much as the signature.
const HAS_SPARE_PROCESSOR = availableParallelism() > 2
const signInPool = promisify(sign) as (algorithm: null, data: Uint8Array, key: KeyObject) => Promise<Buffer>

/** @throws TypeError for a key of another kind */
export function createSigner(privateKey: KeyObject): Signer {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  const publicKey = fromBase64url(x ?? '', 32)
  if (privateKey.asymmetricKeyType !== 'ed25519' || !publicKey) throw new TypeError('not an Ed25519 key')
  const keyId = keyIdOf(publicKey)
  return {
    keyId,
    publicKey,
    async sign(domain, text) {
      const message = signedMessage(domain, text)
      // A whole batch waits for its tree head, and would wait longer for a thread of the pool than for the signature.
      const isAtOnce = domain === DOMAINS.treeHead || !HAS_SPARE_PROCESSOR
      const value = isAtOnce ? sign(null, message, privateKey) : await signInPool(null, message, privateKey)
      return { alg: 'Ed25519', key_id: keyId, value: value.toString('base64url') }
    },
  }
}
