/**
 * The contract for keys that sign the log outside of the service, in a token or a key management service. The backend makes the keys and signs
 * with them; the host decides which key signs, and verifies each signature before it uses it.
 */
import type { Signer } from './signer.ts'

export type BackendKey = Pick<Signer, 'keyId' | 'publicKey'>

/**
 * A token or service that holds the keys of a log.
 * @throws Error each method, when the backend cannot do it now. The message goes to the operator: it names the backend, says what to do, and holds no
 * secret. Claims wait meanwhile, and the host asks again. It waits six seconds for an answer.
 */
export interface SigningBackend {
  /** The backend's name in messages to the operator, such as `the token claimcheck`. */
  readonly name: string
  /** Lists the backend's Ed25519 keys for this log, those that signed before included. */
  keys(): Promise<readonly BackendKey[]>
  generate(): Promise<BackendKey>
  /** Signs a message. @returns the 64 bytes of the Ed25519 signature */
  sign(keyId: string, message: Uint8Array): Promise<Uint8Array>
}
