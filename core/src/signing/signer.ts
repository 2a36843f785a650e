/** Signing as the rest sees it. The private key never leaves the one who implements this. */
import type { Domain, Signature } from './message.ts'

export interface Signer {
  /** `ed25519:` and the base64url SHA-256 of the public key. */
  readonly keyId: string
  /** The raw 32 bytes. */
  readonly publicKey: Uint8Array
  /** Signs a body, given as canonical JSON: `signedMessage(domain, text)`. */
  sign(domain: Domain, text: string): Promise<Signature>
}
