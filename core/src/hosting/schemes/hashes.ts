/** SHA-256, its message authentication code, and base64, as credentials need them. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { utf8 } from '../../encoding.ts'

export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8(text)))
}

export function hmacSha256(key: Uint8Array, text: string): Uint8Array {
  return hmac(sha256, key, utf8(text))
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}
