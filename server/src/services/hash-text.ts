/** Hashes as text, a whole proof's at once: the calls into the encoder are what encoding them costs. */
import { HASH_BYTES } from '@claimcheck/core'

// A multiple of three: each hash begins at a letter of its own.
const STRIDE_BYTES = HASH_BYTES + 1
const STRIDE_LETTERS = (STRIDE_BYTES * 4) / 3
const HASH_LETTERS = Math.ceil((HASH_BYTES * 4) / 3)

/** base64url, in the same order. */
export function toTexts(hashes: readonly Uint8Array[]): string[] {
  const bytes = Buffer.alloc(hashes.length * STRIDE_BYTES)
  for (let index = 0; index < hashes.length; index++) bytes.set(hashes[index]!, index * STRIDE_BYTES)
  const letters = bytes.toString('base64url')
  return hashes.map((_, index) => letters.slice(index * STRIDE_LETTERS, index * STRIDE_LETTERS + HASH_LETTERS))
}
