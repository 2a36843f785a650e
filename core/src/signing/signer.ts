/** The interface of a signer. Its implementation never gives the private key away. */
import type { Domain, Signature } from './message.ts'

export interface Signer {
  /** The id of the signer's key, as `keyIdOf` makes it. */
  readonly keyId: string
  /** The raw 32 bytes of the public key. */
  readonly publicKey: Uint8Array
  /** Signs `signedMessage(domain, body)`. @param body canonical JSON in UTF-8 (`canonicalBytes`) */
  sign(domain: Domain, body: Uint8Array): Promise<Signature>
}
