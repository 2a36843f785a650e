/** Reads the body of an answer: counts it, and makes its fingerprint in the form of the claimed one. Never more than one form's work. */
import { createHash } from 'node:crypto'
import { DestinationError, textFingerprint } from '@claimcheck/core/plugin'

/** `bytes`: `sha256:` and hexadecimal. `text`: the fingerprint of texts in receipts, in base64url. */
export type Form = 'bytes' | 'text'

export function formOf(fingerprint: string): Form {
  return /^sha256:[0-9a-f]{64}$/i.test(fingerprint) ? 'bytes' : 'text'
}

export interface Content {
  readonly bytes: number
  /** Undefined where no form was asked for. */
  readonly fingerprint?: string
  /** The text has a byte order mark before it, which is left out here, and which other readers keep. */
  readonly hasMark?: boolean
}

/** To bring a text into its one form takes some 40 ms for the worst text of this size. */
const LONGEST_TEXT_BYTES = 512 * 1024
/**
 * Text with more combining characters in a row is no text that a person reads, and to sort them takes time that grows with their square:
 * more than a minute for half a mebibyte. UAX #15, stream-safe text, allows 30.
 */
const TOO_MANY_MARKS = /\p{M}{31}/u

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const

/** @throws DestinationError also what the body throws, such as `too_large` */
export async function readContent(response: Response, form: Form | undefined): Promise<Content> {
  switch (form) {
    case undefined:
      return { bytes: await readChunks(response, () => {}) }
    case 'bytes': {
      const hash = createHash('sha256')
      const bytes = await readChunks(response, (chunk) => hash.update(chunk))
      return { bytes, fingerprint: `sha256:${hash.digest('hex')}` }
    }
    case 'text': {
      const chunks: Uint8Array[] = []
      const bytes = await readChunks(response, (chunk) => chunks.push(chunk), LONGEST_TEXT_BYTES)
      const content = Buffer.concat(chunks)
      const hasMark = BYTE_ORDER_MARK.every((byte, index) => content[index] === byte)
      return { bytes, fingerprint: fingerprintOf(content, response.status), hasMark }
    }
  }
}

async function readChunks(
  { body, status }: Response,
  take: (chunk: Uint8Array) => void,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let bytes = 0
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    bytes += part.value.length
    if (bytes > most) {
      await reader?.cancel()
      throw new DestinationError('too_large', { status })
    }
    take(part.value)
  }
  return bytes
}

/** Of what is no text in UTF-8, no text has the fingerprint. */
function fingerprintOf(bytes: Uint8Array, status: number): string {
  const text = decoded(bytes)
  if (text === undefined || TOO_MANY_MARKS.test(text)) throw new DestinationError('unexpected_response', { status })
  return textFingerprint(text)
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
