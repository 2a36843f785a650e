/** Digests and message authentication codes by their names. */
import { hmac } from '@noble/hashes/hmac.js'
import { md5, sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha512, sha512_256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { utf8 } from '../../encoding.ts'

const HASHES = { md5, sha1, sha256, sha512, 'sha512-256': sha512_256 } as const
export type HashName = keyof typeof HASHES
type BytesEncoding = 'hex' | 'base64'

export function hashOf(name: HashName, text: string, encoding: BytesEncoding = 'hex'): string {
  return encodeBytes(HASHES[name](utf8(text)), encoding)
}

export function macOf(name: HashName, key: Uint8Array, text: string): Uint8Array {
  return hmac(HASHES[name], key, utf8(text))
}

export function encodeBytes(bytes: Uint8Array, encoding: BytesEncoding): string {
  return encoding === 'hex' ? bytesToHex(bytes) : btoa(String.fromCharCode(...bytes))
}
