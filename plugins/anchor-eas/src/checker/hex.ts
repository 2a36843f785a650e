/** Bytes as Ethereum's hex: `0x` and two digits for each byte. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** Writes hex in lower case. */
export function toHex(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`
}

/** Reads hex; `undefined` for any other text. */
export function fromHex(text: string): Uint8Array | undefined {
  return /^0x[0-9a-f]*$/i.test(text) && text.length % 2 === 0 ? hexToBytes(text.slice(2)) : undefined
}
