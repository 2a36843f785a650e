/** libsodium, where the package sodium-native is installed and has a binary for the machine. */
import { createRequire } from 'node:module'

/** The used part of sodium-native, which has no types of its own. */
export interface Sodium {
  readonly crypto_sign_BYTES: number
  readonly crypto_sign_PUBLICKEYBYTES: number
  readonly crypto_sign_SECRETKEYBYTES: number
  /** Memory between guard pages, locked against swapping. */
  sodium_malloc(bytes: number): Buffer
  sodium_mprotect_readonly(buffer: Buffer): void
  crypto_sign_seed_keypair(publicKey: Buffer, secretKey: Buffer, seed: Buffer): void
  crypto_sign_detached(signature: Buffer, message: Uint8Array, secretKey: Buffer): void
}

let loaded: { readonly sodium: Sodium | null } | undefined

/** Not before it is needed: most commands sign nothing. */
export function loadSodium(): Sodium | null {
  loaded ??= { sodium: tryLoading() }
  return loaded.sodium
}

function tryLoading(): Sodium | null {
  try {
    return createRequire(import.meta.url)('sodium-native')
  } catch {
    return null
  }
}
