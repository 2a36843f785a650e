/** Hashes as text, a whole proof's at once: the calls into the encoder are what encoding them costs. */
import { HASH_BYTES } from '@claimcheck/core'

// A multiple of three: each hash begins at a letter of its own.
const STRIDE_BYTES = HASH_BYTES + 1
const STRIDE_LETTERS = (STRIDE_BYTES * 4) / 3
const HASH_LETTERS = Math.ceil((HASH_BYTES * 4) / 3)

// Used again and again. The byte after each hash is never written: its bits, which the hash's last letter has some of, stay 0.
let strides = Buffer.alloc(0)

/** base64url, in the same order. */
export function toTexts(hashes: readonly Uint8Array[]): string[] {
  const length = hashes.length * STRIDE_BYTES
  if (length > strides.length) strides = Buffer.alloc(length)
  for (let index = 0; index < hashes.length; index++) strides.set(hashes[index]!, index * STRIDE_BYTES)
  const letters = strides.toString('base64url', 0, length)
  return hashes.map((_, index) => letters.slice(index * STRIDE_LETTERS, index * STRIDE_LETTERS + HASH_LETTERS))
}
