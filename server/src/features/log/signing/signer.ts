/** Makes signers of the service's own keys. The private key never leaves its signer. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { bytesEqual, fromBase64url, keyIdOf, type Signer, signedMessage } from '@claimcheck/core/receipts'
import { keyOfSeed, loadSodium, type Sodium, type SodiumKey } from './sodium.ts'

type SignBytes = SodiumKey['sign']

const SEED_BYTES = 32

/**
 * @param sodium null: OpenSSL signs, which takes 1.7 times as long
 * @throws TypeError for a key of another kind
 */
export function createSigner(privateKey: KeyObject, sodium: Sodium | null = loadSodium()): Signer {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  const publicKey = fromBase64url(x ?? '', 32)
  if (privateKey.asymmetricKeyType !== 'ed25519' || !publicKey) throw new TypeError('not an Ed25519 key')
  return toSigner(publicKey, sodium ? signingBySodium(sodium, privateKey, publicKey) : signingByOpenssl(privateKey))
}

function toSigner(publicKey: Uint8Array, signBytes: SignBytes): Signer {
  const keyId = keyIdOf(publicKey)
  return {
    keyId,
    publicKey,
    // At once, in this thread: a signature takes about as long as waking another one.
    async sign(domain, body) {
      const value = signBytes(signedMessage(domain, body)).toString('base64url')
      return { alg: 'Ed25519', key_id: keyId, value }
    },
  }
}

// A function of its own: what it closes over would stay in memory beside libsodium's copy.
function signingByOpenssl(privateKey: KeyObject): SignBytes {
  return (message) => sign(null, message, privateKey)
}

/** The signer keeps libsodium's copy of the key alone. */
function signingBySodium(sodium: Sodium, privateKey: KeyObject, publicKey: Uint8Array): SignBytes {
  const document = privateKey.export({ type: 'pkcs8', format: 'der' })
  try {
    // RFC 8410: the seed is at the document's end.
    const key = keyOfSeed(sodium, document.subarray(-SEED_BYTES))
    if (bytesEqual(key.publicKey, publicKey)) return key.sign
  } finally {
    document.fill(0)
  }
  throw new Error('libsodium derives another public key than OpenSSL')
}
