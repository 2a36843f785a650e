/** Answers a server's challenges by SASL (RFC 4422), by mechanism. */
import { sha256 } from '@noble/hashes/sha2.js'
import { DestinationError } from '../../contract/destination-error.ts'
import type { LoginMechanism } from '../../contract/socket.ts'
import { utf8 } from '../../encoding.ts'
import { encodeBase64, hmacSha256 } from '../schemes/hashes.ts'

/** A login with its secret put in. */
export interface SecretLogin {
  readonly mechanism: LoginMechanism
  readonly user: string
  readonly secret: string
}

export interface Sasl {
  /** The mechanism's name in a server's list. */
  readonly name: string
  /** Answers a challenge, the empty one first; undefined gives the login up. */
  answer(challenge: string): Promise<string | undefined>
  /** Tells whether the server may say now that the login succeeded. */
  isComplete(): boolean
}

export function saslOf(
  mechanism: Exclude<LoginMechanism, 'login'>,
  { user, secret }: Pick<SecretLogin, 'user' | 'secret'>,
): Sasl {
  switch (mechanism) {
    case 'plain':
      return inSteps('PLAIN', [`\0${user}\0${secret}`])
    case 'xoauth2':
      // The second, empty answer asks for the refusal that follows an error.
      return inSteps('XOAUTH2', [`user=${user}\u0001auth=Bearer ${secret}\u0001\u0001`, ''])
    case 'scram-sha-256':
      return scram(user, secret)
  }
}

function inSteps(name: string, answers: readonly string[]): Sasl {
  let at = 0
  return { name, answer: async () => answers[at++], isComplete: () => true }
}

const LEAST_ITERATIONS = 4096
/** Limit without which a hostile server could make the host compute for as long as it likes. */
const MOST_ITERATIONS = 600_000

/** SCRAM (RFC 5802, RFC 7677) without channel binding. The server proves that it knows the password, too. */
function scram(user: string, secret: string): Sasl {
  const nonce = toBase64(crypto.getRandomValues(new Uint8Array(18)))
  const first = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  let expected: string | undefined
  let step = 0
  let isComplete = false

  async function final(challenge: string): Promise<string> {
    const [, theirs = '', salt = '', count = ''] =
      /^r=([!-+\--~]+),s=([A-Za-z0-9+/=]+),i=([0-9]{1,9})(?:,|$)/.exec(challenge) ?? []
    const iterations = Number(count)
    const isRight = theirs.startsWith(nonce) && theirs.length > nonce.length
    if (!isRight || iterations < LEAST_ITERATIONS || iterations > MOST_ITERATIONS) throw unexpected()
    // The stored form of most servers is SASLprep's, which is NFKC for what people choose.
    const salted = await pbkdf2(utf8(secret.normalize('NFKC')), bytesOf(salt), iterations)
    const clientKey = hmacSha256(salted, 'Client Key')
    const storedKey = sha256(clientKey)
    const withoutProof = `c=biws,r=${theirs}`
    const signed = `${first},${challenge},${withoutProof}`
    const signature = hmacSha256(storedKey, signed)
    const proof = clientKey.map((byte, index) => byte ^ signature[index]!)
    expected = toBase64(hmacSha256(hmacSha256(salted, 'Server Key'), signed))
    return `${withoutProof},p=${toBase64(proof)}`
  }

  return {
    name: 'SCRAM-SHA-256',
    async answer(challenge) {
      step++
      if (step === 1) return `n,,${first}`
      if (step === 2) return final(challenge)
      if (step > 3 || challenge.startsWith('e=')) return undefined
      if (challenge !== `v=${expected}`) throw unexpected()
      isComplete = true
      return ''
    },
    isComplete: () => isComplete,
  }
}

function unexpected(): DestinationError {
  return new DestinationError('unexpected_response')
}

type Bytes = Uint8Array<ArrayBuffer>

async function pbkdf2(password: Uint8Array, salt: Bytes, iterations: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', password as Bytes, 'PBKDF2', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations }, key, 256))
}

/** Encodes bytes, or the UTF-8 of a text. */
export function toBase64(value: string | Uint8Array): string {
  return encodeBase64(typeof value === 'string' ? utf8(value) : value)
}

/** Decodes base64 to text. @throws DestinationError `unexpected_response` for any other text */
export function fromBase64(text: string): string {
  return new TextDecoder().decode(bytesOf(text))
}

function bytesOf(base64: string): Bytes {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    throw unexpected()
  }
}
