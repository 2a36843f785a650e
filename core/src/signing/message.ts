/** What a signature is made over: each kind of statement under its own domain, so that none passes for another. */
import { fromBase64url, utf8 } from '../encoding.ts'
import type { JsonValue } from '../json.ts'
import { canonicalize } from '../receipt/jcs.ts'
import { verifyEd25519 } from './ed25519.ts'

export const DOMAINS = {
  receipt: 'POAW-RECEIPT-V0',
  change: 'POAW-CHANGE-V0',
  treeHead: 'POAW-TREE-HEAD-V0',
} as const
export type Domain = (typeof DOMAINS)[keyof typeof DOMAINS]

/** A signature as it stands beside the body that it signs. */
export type Signature = {
  readonly alg: 'Ed25519'
  readonly key_id: string
  /** base64url of the 64 bytes. */
  readonly value: string
}

/** @param text the body in canonical JSON */
export function signedMessage(domain: Domain, text: string): Uint8Array {
  return utf8(`${domain}\n${text}`)
}

export function verifySignature(publicKey: Uint8Array, domain: Domain, body: JsonValue, value: string): boolean {
  const signature = fromBase64url(value, 64)
  return signature !== undefined && verifyEd25519(signature, signedMessage(domain, canonicalize(body)), publicKey)
}
