/** Digests of JSON documents, claims and texts. */
import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64url, utf8 } from '../encoding.ts'
import type { Instant } from '../evidence.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { formatInstant } from '../time.ts'
import { canonicalize } from './jcs.ts'

/** A claim as it was submitted. */
export interface SubmittedClaim {
  readonly action: string
  readonly target: string
  readonly params: JsonObject
  readonly claimedAt: Instant
  readonly clientClaimId: string
}

/** Writes a claim as in a receipt, without its digest, which is made from it. */
export function toWireClaim({ action, target, params, claimedAt, clientClaimId }: SubmittedClaim) {
  // The members are in canonical order, so that nothing has to be sorted.
  return { action, claimed_at: formatInstant(claimedAt), client_claim_id: clientClaimId, params, target }
}

/** The digest of a claim. @param digest a faster `sha256Text` of a host, as the default runs in browsers, too */
export function claimDigest(claim: SubmittedClaim, digest = sha256Text): string {
  return digest(canonicalize(toWireClaim(claim)))
}

/** Computes base64url(SHA-256(JCS(value))). */
export function digestOf(value: JsonValue): string {
  return sha256Text(canonicalize(value))
}

/**
 * The receipt format's fingerprint of a text: `sha256:` and a hash. It ignores Unicode normalization, the kind of line ends, spaces at line
 * ends, and empty lines at the beginning and the end.
 */
export function textFingerprint(text: string): string {
  const lines = text
    .normalize('NFC')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
  const first = lines.findIndex((line) => line !== '')
  const last = lines.findLastIndex((line) => line !== '')
  return `sha256:${sha256Text(lines.slice(Math.max(first, 0), last + 1).join('\n'))}`
}

/** Computes base64url(SHA-256(UTF-8(text))). */
export function sha256Text(text: string): string {
  return toBase64url(sha256(utf8(text)))
}
