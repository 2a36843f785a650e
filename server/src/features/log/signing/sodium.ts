/** libsodium, where the package sodium-native is installed and has a binary that works on the machine. */
import { createRequire } from 'node:module'

/** The used part of sodium-native, which has no types of its own. */
export interface Sodium {
  readonly crypto_sign_BYTES: number
  readonly crypto_sign_PUBLICKEYBYTES: number
  readonly crypto_sign_SECRETKEYBYTES: number
  /** Memory between guard pages, locked against swapping where the system allows it. */
  sodium_malloc(bytes: number): Buffer
  sodium_mprotect_readonly(buffer: Buffer): void
  crypto_sign_seed_keypair(publicKey: Buffer, secretKey: Buffer, seed: Buffer): void
  crypto_sign_detached(signature: Buffer, message: Uint8Array, secretKey: Buffer): void
}

let loaded: { readonly sodium: Sodium | null } | undefined

/** Not before it is needed: most commands sign nothing. */
export function loadSodium(): Sodium | null {
  loaded ??= { sodium: working(() => createRequire(import.meta.url)('sodium-native')) }
  return loaded.sodium
}

/** A key in libsodium's memory, which nothing writes to, and which the system, where it allows that, does not swap out. */
export interface SodiumKey {
  readonly publicKey: Uint8Array
  /** Returns the 64 bytes of a signature. */
  sign(message: Uint8Array): Buffer
}

/** @param seed 32 bytes, as in RFC 8032 */
export function keyOfSeed(sodium: Sodium, seed: Buffer): SodiumKey {
  const publicKey = Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES)
  const secretKey = sodium.sodium_malloc(sodium.crypto_sign_SECRETKEYBYTES)
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed)
  sodium.sodium_mprotect_readonly(secretKey)
  return {
    publicKey,
    sign(message) {
      const signature = Buffer.allocUnsafe(sodium.crypto_sign_BYTES)
      sodium.crypto_sign_detached(signature, message, secretKey)
      return signature
    },
  }
}

/** The first test vector of RFC 8032. */
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
const SIGNATURE_OF_NOTHING =
  'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'

/** null where it does not load, or does not sign as it should: a start must not fail where OpenSSL can sign. */
export function working(load: () => Sodium): Sodium | null {
  try {
    const sodium = load()
    const signature = keyOfSeed(sodium, SEED).sign(Buffer.alloc(0))
    return signature.toString('hex') === SIGNATURE_OF_NOTHING ? sodium : null
  } catch {
    return null
  }
}
