/**
 * Bytes as text: base64url without padding (RFC 4648, section 5), with exactly one text for each value. `@scure/base` is as strict,
 * and would add 0.8 kB to what a browser loads for the checker.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const SEXTETS: ReadonlyMap<string, number> = new Map([...ALPHABET].map((letter, sextet) => [letter, sextet]))

export function toBase64url(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff
    bits += 8
    for (; bits >= 6; bits -= 6) text += ALPHABET[(held >> (bits - 6)) & 0x3f]
  }
  if (bits > 0) text += ALPHABET[(held << (6 - bits)) & 0x3f]
  return text
}

/**
 * Refuses every text that `toBase64url` does not write: padding, other letters, trailing bits that are not zero. With those, one
 * signature would have several texts.
 *
 * @param lengthBytes when given, a text of any other length is refused
 * @returns `undefined` for a refused text
 */
export function fromBase64url(text: string, lengthBytes?: number): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8))
  if (lengthBytes !== undefined && bytes.length !== lengthBytes) return undefined
  let length = 0
  let bits = 0
  let held = 0
  for (const letter of text) {
    const sextet = SEXTETS.get(letter)
    if (sextet === undefined) return undefined
    held = ((held << 6) | sextet) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[length++] = (held >> bits) & 0xff
    }
  }
  const trailing = held & ((1 << bits) - 1)
  return bits >= 6 || trailing !== 0 ? undefined : bytes
}

const ENCODER = new TextEncoder()

export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text)
}

export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
