/** Makes keyed fingerprints of values that are too few to hide behind a hash alone. No request carries the key. */
import { bytesToHex } from '@noble/hashes/utils.js'
import { DestinationError } from '../../contract/destination-error.ts'
import { requireFingerprintText } from '../../contract/fingerprint-text.ts'
import { utf8 } from '../../encoding.ts'
import { Type } from '../../typebox.ts'
import { BreachError } from '../failures.ts'
import { hmacSha256 } from './hashes.ts'
import type { Scheme } from './scheme.ts'

/** A key for `fingerprint` of a check's context. Whoever claims makes the same fingerprints with it. */
export interface FingerprintCredential {
  readonly scheme: 'fingerprint'
  /** The name of the secret option that holds the key, of at least 16 characters. */
  readonly key: string
}

/** Begins each text, so that no fingerprint is a signature or a password of another use of the same key. */
const PURPOSE = 'claimcheck.fingerprint:'
const SHORTEST_KEY = 16

export const fingerprint: Scheme<FingerprintCredential> = {
  form: Type.Object(
    { scheme: Type.Literal('fingerprint'), key: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
  options: ({ key }) => [{ name: key, isSecret: true }],
  async spend() {
    throw new BreachError('a key of fingerprints goes into no request')
  },
  fingerprint({ key: option }, text, { required }) {
    if (typeof text !== 'string') throw new BreachError('a fingerprint is made of a text')
    requireFingerprintText(text)
    const key = required(option)
    if (key.length < SHORTEST_KEY) throw new DestinationError('misconfigured')
    return `hmac-sha256:${bytesToHex(hmacSha256(utf8(key), PURPOSE + text))}`
  },
}
