/** Signs JSON Web Tokens with a private key as people paste it: PEM of any usual form, or the JSON file of a service account. */
import { DestinationError } from '../../contract/destination-error.ts'
import { toBase64url, utf8 } from '../../encoding.ts'
import { type JsonObject, objectIn } from '../../json.ts'

export interface SigningKey {
  readonly key: CryptoKey
  readonly algorithm: 'RS256' | 'ES256'
  /** The account's address in the JSON file of a service account. */
  readonly issuer?: string | undefined
  readonly keyId?: string | undefined
}

const FORMS = [
  { algorithm: 'RS256', name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  { algorithm: 'ES256', name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
] as const

/**
 * Imports a private key for signing.
 * @throws DestinationError `misconfigured` for anything but a private key of RSA, of at most 4096 bits, or P-256. It repeats nothing of the key
 */
export async function signingKey(text: string): Promise<SigningKey> {
  const { private_key: inFile, client_email: email, private_key_id: id } = objectIn(text)
  const pkcs8 = pkcs8Of(typeof inFile === 'string' ? inFile : text)
  for (const form of FORMS) {
    // `importKey` rejects a key of another form.
    const key = pkcs8 && (await crypto.subtle.importKey('pkcs8', pkcs8, form, false, ['sign']).catch(() => undefined))
    if (key && modulusOf(key) <= MOST_MODULUS_BITS)
      return { key, algorithm: form.algorithm, issuer: textOf(email), keyId: textOf(id) }
  }
  throw new DestinationError('misconfigured')
}

/** Limit of a key of RSA that a workspace types, because with 40,000 bits one signature takes minutes. */
export const MOST_MODULUS_BITS = 4096

function modulusOf({ algorithm }: CryptoKey): number {
  return 'modulusLength' in algorithm ? Number(algorithm.modulusLength) : 0
}

/** Signs claims, and writes them in the compact form. */
export async function signJwt({ key, algorithm }: SigningKey, kid: string | undefined, claims: JsonObject) {
  const header = { alg: algorithm, typ: 'JWT', ...(kid !== undefined && { kid }) }
  const text = [header, claims].map((part) => toBase64url(utf8(JSON.stringify(part)))).join('.')
  const { name, hash } = FORMS.find((form) => form.algorithm === algorithm)!
  const signature = await crypto.subtle.sign({ name, hash }, key, utf8(text) as Uint8Array<ArrayBuffer>)
  return `${text}.${toBase64url(new Uint8Array(signature))}`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const PEM = /-----BEGIN (RSA |EC |)PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END \1PRIVATE KEY-----/

/** The algorithm and curve that PKCS #8 puts before a key of the older forms, in DER. */
const ALGORITHMS: Readonly<Record<string, readonly number[]>> = {
  // The object identifier rsaEncryption (RFC 8017), in DER
  'RSA ': [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00],
  // The object identifiers ecPublicKey and prime256v1 (RFC 5480), in DER
  'EC ': [
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
    0x01, 0x07,
  ],
}

function pkcs8Of(pem: string): Uint8Array<ArrayBuffer> | undefined {
  const [, form = '', base64] = PEM.exec(pem) ?? []
  if (base64 === undefined) return undefined
  try {
    const der = Uint8Array.from(atob(base64.replace(/\s/g, '')), (one) => one.charCodeAt(0))
    const algorithm = ALGORITHMS[form]
    return algorithm ? derValue(0x30, [0x02, 0x01, 0x00, ...algorithm, ...derValue(0x04, der)]) : der
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
