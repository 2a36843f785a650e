/** Bytes as Ethereum writes them: `0x`, and two digits for each. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** In small letters. */
export function toHex(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`
}

export function fromHex(text: string): Uint8Array | undefined {
  return /^0x[0-9a-f]*$/i.test(text) && text.length % 2 === 0 ? hexToBytes(text.slice(2)) : undefined
}
