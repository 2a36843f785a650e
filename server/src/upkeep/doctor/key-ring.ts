/** The keys of the log as they are stored, and whether what they signed holds. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { promisify } from 'node:util'
import {
  canonicalize,
  type Domain,
  fromBase64url,
  type Instant,
  type JsonObject,
  keyIdOf,
  type Signature,
  signedMessage,
} from '@claimcheck/core'
import type { SigningKeyRow } from '../../storage/log.ts'

export interface KeyRing {
  /** What is wrong with a signature. A key that is damaged itself is complained of elsewhere, and not once for each of them. */
  check(domain: Domain, signed: Signed, at: Instant): Promise<string[]>
}

interface Signed {
  readonly body: JsonObject
  readonly signature: Signature
}

// On the thread pool, and with node:crypto, which is some fifteen times as fast as the checker's own; the keys here are ours.
const verifyInPool = promisify(verify)

export function createKeyRing(rows: readonly SigningKeyRow[]): KeyRing {
  const keys = new Map(rows.map((row) => [row.keyId, { row, key: publicKeyOf(row) }]))
  return {
    async check(domain, { body, signature }, at) {
      const known = keys.get(signature.key_id)
      if (!known) return [`its signing key ${signature.key_id} is missing`]
      if (!known.key) return []
      const { validFrom, revokedAt } = known.row
      const problems = []
      if (at < validFrom || (revokedAt !== null && at >= revokedAt))
        problems.push('it is not of the time of its signing key')
      const value = fromBase64url(signature.value, 64)
      const message = signedMessage(domain, canonicalize(body))
      if (!value || !(await verifyInPool(null, message, known.key, value))) problems.push('the signature does not hold')
      return problems
    },
  }
}

/** Undefined when the id is not the hash of the key. */
export function publicKeyOf({ keyId, publicKey }: SigningKeyRow): KeyObject | undefined {
  const raw = fromBase64url(publicKey, 32)
  if (!raw || keyIdOf(raw) !== keyId) return undefined
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
}
