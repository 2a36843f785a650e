/** Private keys that only look like ones of RSA, of any length: making a long one takes minutes. */
import { randomBytes } from 'node:crypto'

/** In PEM, of PKCS #1. */
export function longKey(bits: number): string {
  const number = (size: number) => {
    const bytes = randomBytes(size / 8)
    bytes[0]! |= 0x40
    bytes[0]! &= 0x7f
    bytes[bytes.length - 1]! |= 1
    return tagged(0x02, bytes)
  }
  const half = bits / 2
  const numbers = [bits, 0, bits, half, half, half, half, half].map((size) => (size === 0 ? EXPONENT : number(size)))
  const der = tagged(0x30, Buffer.concat([VERSION, ...numbers]))
  return `-----BEGIN RSA PRIVATE KEY-----\n${der.toString('base64')}\n-----END RSA PRIVATE KEY-----`
}

const VERSION = Buffer.from([0x02, 1, 0])
const EXPONENT = Buffer.from([0x02, 3, 1, 0, 1])

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 0xff]), content])
}
