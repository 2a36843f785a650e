/** Strict Ed25519 verification: RFC 8032 without the cofactor, canonical encodings only, no points of small order. Strict verifiers agree on every signature. */
import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js'
import { sha512 } from '@noble/hashes/sha2.js'

const { Point } = ed25519
const { Fn } = Point

/** Verifies a signature. Never throws: returns `false` for bytes that are not a signature or a key. */
export function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false
  const encodedR = signature.subarray(0, 32)
  const a = decodePoint(publicKey)
  const r = decodePoint(encodedR)
  const s = bytesToNumberLE(signature.subarray(32))
  if (!a || !r || s >= Fn.ORDER) return false

  // The library's own `verify` multiplies this equation by the cofactor, and accepts signatures that OpenSSL refuses.
  const k = Fn.create(bytesToNumberLE(sha512(concatBytes(encodedR, publicKey, message))))
  return Point.BASE.multiplyUnsafe(s).equals(r.add(a.multiplyUnsafe(k)))
}

function decodePoint(bytes: Uint8Array) {
  try {
    const point = Point.fromBytes(bytes, false)
    return point.isSmallOrder() ? undefined : point
  } catch {
    return undefined
  }
}
