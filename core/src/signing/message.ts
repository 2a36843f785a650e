/** The bytes that a signature is over. Each kind of document has its own domain, so that a signature of one is never valid for another. */
import { concatBytes } from '@noble/hashes/utils.js'
import { fromBase64url, utf8 } from '../encoding.ts'
import type { JsonValue } from '../json.ts'
import { canonicalBytes } from '../receipt/jcs.ts'
import { verifyEd25519 } from './ed25519.ts'

export const DOMAINS = {
  receipt: 'POAW-RECEIPT-V0',
  change: 'POAW-CHANGE-V0',
  treeHead: 'POAW-TREE-HEAD-V0',
  finding: 'CLAIMCHECK-FINDING-V1',
} as const
export type Domain = (typeof DOMAINS)[keyof typeof DOMAINS]

/** The wire format of a signature, which is next to the body that it signs. */
export type Signature = {
  readonly alg: 'Ed25519'
  readonly key_id: string
  /** The 64 bytes of the signature in base64url. */
  readonly value: string
}

/** Makes the bytes that are signed. @param body canonical JSON in UTF-8 */
export function signedMessage(domain: Domain, body: Uint8Array): Uint8Array {
  return concatBytes(BEGINNINGS[domain], body)
}

const BEGINNINGS = Object.fromEntries(
  Object.values(DOMAINS).map((domain) => [domain, utf8(`${domain}\n`)]),
) as Readonly<Record<Domain, Uint8Array>>

/** Verifies a signature over a document. @param body the signed JSON @param value the signature in base64url */
export function verifySignature(publicKey: Uint8Array, domain: Domain, body: JsonValue, value: string): boolean {
  const signature = fromBase64url(value, 64)
  return signature !== undefined && verifyEd25519(signature, signedMessage(domain, canonicalBytes(body)), publicKey)
}
