/** Signs JSON Web Tokens by RS256, with a private key as people paste it: PEM of PKCS #8 or of PKCS #1. */
import { DestinationError } from '../../contract/destination-error.ts'
import { toBase64url, utf8 } from '../../encoding.ts'
import type { JsonObject } from '../../json.ts'

const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const

/**
 * Imports a private key for signing.
 * @throws DestinationError `misconfigured` for anything but a private key of RSA, of at most 4096 bits. It repeats nothing of the key
 */
export async function signingKey(pem: string): Promise<CryptoKey> {
  const pkcs8 = pkcs8Of(pem)
  // `importKey` rejects a key of another form.
  const key =
    pkcs8 && (await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']).catch(() => undefined))
  if (!key || Number((key.algorithm as RsaKeyAlgorithm).modulusLength) > MOST_MODULUS_BITS)
    throw new DestinationError('misconfigured')
  return key
}

/** Limit of a key of RSA that a workspace types, because with 40,000 bits one signature takes minutes. */
export const MOST_MODULUS_BITS = 4096

/** Signs claims, and writes them in the compact form. */
export async function signJwt(key: CryptoKey, kid: string | undefined, claims: JsonObject): Promise<string> {
  const header = { alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) }
  const text = [header, claims].map((part) => toBase64url(utf8(JSON.stringify(part)))).join('.')
  const signature = await crypto.subtle.sign(ALGORITHM, key, utf8(text) as Uint8Array<ArrayBuffer>)
  return `${text}.${toBase64url(new Uint8Array(signature))}`
}

const PEM = /-----BEGIN (RSA |)PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END \1PRIVATE KEY-----/

/** The version and the algorithm rsaEncryption (RFC 8017) that PKCS #8 puts before a key of PKCS #1, in DER. */
const RSA = [0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00]

function pkcs8Of(pem: string): Uint8Array<ArrayBuffer> | undefined {
  const [, form, base64] = PEM.exec(pem) ?? []
  if (base64 === undefined) return undefined
  try {
    const der = Uint8Array.from(atob(base64.replace(/\s/g, '')), (one) => one.charCodeAt(0))
    return form === '' ? der : derValue(0x30, [...RSA, ...derValue(0x04, der)])
  } catch {
    return undefined
  }
}

/** A value with its tag and length, in DER. */
function derValue(tag: number, content: Uint8Array | readonly number[]): Uint8Array<ArrayBuffer> {
  const { length } = content
  const longLength = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Uint8Array.from([tag, ...(length < 0x80 ? [length] : longLength), ...content])
}
