/** Takes an answer, and makes the fingerprint of its content in the form of the claimed one, and in no other. */
import { type CheckContext, DestinationError, type FetchInit } from '@claimcheck/core/plugin'
import { textFingerprint } from '@claimcheck/core/receipts'

/** The forms of fingerprints. `bytes`: `sha256:` and hexadecimal. `text`: the fingerprint of texts in receipts, in base64url. */
export type Form = 'bytes' | 'text'

export function formOf(fingerprint: string): Form {
  return /^sha256:[0-9a-f]{64}$/i.test(fingerprint) ? 'bytes' : 'text'
}

export interface Content {
  /** The size of the content; undefined for a large body that needed not be read to its end. */
  readonly bytes?: number
  /** The digest of the content; undefined if no form was asked for. */
  readonly fingerprint?: string
  /** Tells that the text begins with a byte order mark, which is left out here, and which other readers keep. */
  readonly hasMark?: boolean
  /** The first bytes of the content, each as a character, where the body was read as it came. */
  readonly opening?: string
  /** Tells that the content is that of an earlier read: only the server's `ETag` says that it is still there. */
  readonly isRemembered?: boolean
}

/** Limits a text whose one form takes some 40 ms to make, in the worst case. */
const LONGEST_TEXT_BYTES = 512 * 1024
/** Limits of counting a body, below the limits by which the host would end the read. */
const MOST_COUNTED_BYTES = 4 * 1024 * 1024
const LONGEST_COUNT_MS = 3000
/**
 * Text with more combining characters in a row is no text that a person reads, and to sort them takes time that grows with their square:
 * more than a minute for half a mebibyte. UAX #15, stream-safe text, allows 30.
 */
const TOO_MANY_MARKS = /\p{M}{31}/u

/** Bytes among which a wall before a site shows its own mark. */
const OPENING_BYTES = 8 * 1024

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const

export interface TakenAnswer extends Content {
  readonly status: number
  readonly headers: Headers
}

type Asked = Pick<FetchInit, 'headers' | 'redirect'>

interface Wanted {
  readonly form: Form | undefined
  /** Tells whether the content of an answer with this status matters. */
  readonly reads: (status: number) => boolean
  /** Tells whether the content of an earlier read may stand for a file with the same `ETag`. */
  readonly recalls: boolean
}

/** Asks an address and takes its answer. @throws DestinationError also for the body, such as `too_large` */
export async function takeAnswer(
  url: string,
  { form, reads, recalls }: Wanted,
  asked: Asked,
  { fetch, digest, cache, now }: Pick<CheckContext, 'fetch' | 'digest' | 'cache' | 'now'>,
): Promise<TakenAnswer> {
  if (form === 'bytes') return takeBytes(url, asked, recalls, { digest, cache })
  const response = await fetch(url, asked)
  const { status, headers } = response
  if (reads(status) && (form === 'text' || !isEndless(headers)))
    return { status, headers, ...(await (form === 'text' ? readText(response) : readSize(response, now))) }
  await response.body?.cancel()
  return { status, headers }
}

interface Remembered extends Content {
  readonly etag: string
  readonly headers: readonly (readonly [string, string])[]
}

/** Reads a file, which may be large: one with the same strong `ETag` as before need not be sent again. */
async function takeBytes(
  url: string,
  { headers: given, ...asked }: Asked,
  recalls: boolean,
  { digest, cache }: Pick<CheckContext, 'digest' | 'cache'>,
): Promise<TakenAnswer> {
  const key = `bytes ${url}`
  const known = recalls ? (cache.get(key) as Remembered | undefined) : undefined
  const headersSent = { ...given, ...(known && { 'if-none-match': known.etag }) }
  const { status, headers, bytes, digests } = await digest(url, {
    ...asked,
    headers: headersSent,
    algorithms: ['sha256'],
  })
  if (status === 304 && known) {
    const { etag: _, headers: before, ...content } = known
    // The headers of a 304 replace those of the remembered answer, RFC 9110 15.4.5.
    const merged = new Headers(before.map(([name, value]) => [name, value] as [string, string]))
    merged.delete('age')
    for (const [name, value] of headers) merged.set(name, value)
    return { ...content, isRemembered: true, status: 200, headers: merged }
  }
  const content = { bytes, fingerprint: `sha256:${Buffer.from(digests.sha256!, 'base64').toString('hex')}` }
  const etag = headers.get('etag')
  if (status === 200 && etag?.startsWith('"'))
    cache.set(key, { ...content, etag, headers: [...headers] } satisfies Remembered)
  return { ...content, status, headers }
}

/** Tells whether the body is a stream of events, which lasts as long as somebody listens. */
function isEndless(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}

/** Counts a body of which the status alone is claimed, and which may be of any size. One that soon breaks off may be a fault. */
async function readSize(response: Response, now: CheckContext['now']): Promise<Content> {
  const until = now() + LONGEST_COUNT_MS
  const opening: Uint8Array[] = []
  let left = OPENING_BYTES
  const take = (chunk: Uint8Array) => {
    if (left > 0) opening.push(chunk.subarray(0, left))
    left -= chunk.length
  }
  const bytes = await readChunks(response, take, MOST_COUNTED_BYTES, () => now() > until)
  return { opening: Buffer.concat(opening).toString('latin1'), ...(bytes !== undefined && { bytes }) }
}

async function readText(response: Response): Promise<Content> {
  const chunks: Uint8Array[] = []
  const bytes = await readChunks(response, (chunk) => chunks.push(chunk), LONGEST_TEXT_BYTES)
  if (bytes === undefined) throw new DestinationError('too_large', { status: response.status })
  const content = Buffer.concat(chunks)
  const hasMark = BYTE_ORDER_MARK.every((byte, index) => content[index] === byte)
  const opening = content.toString('latin1', 0, OPENING_BYTES)
  const text = decoded(content, 'utf-8') ?? decoded(content, charsetOf(response.headers))
  return { bytes, opening, fingerprint: fingerprintOf(text, response.status), hasMark }
}

/** Reads a body in pieces. @returns undefined for a body of more than `most` bytes, or that takes too long, which is read no further */
async function readChunks(
  { body }: Response,
  take: (chunk: Uint8Array) => void,
  most: number,
  isTooLong = () => false,
): Promise<number | undefined> {
  let bytes = 0
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    bytes += part.value.length
    if (bytes > most || isTooLong()) {
      await reader?.cancel()
      return undefined
    }
    take(part.value)
  }
  return bytes
}

/** Makes the fingerprint of a text. Refuses other content, because no text has its fingerprint. */
function fingerprintOf(text: string | undefined, status: number): string {
  if (text === undefined || TOO_MANY_MARKS.test(text)) throw new DestinationError('unexpected_response', { status })
  return textFingerprint(text)
}

/** The encoding that an answer names; empty where it names none. */
export function charsetOf(headers: Headers): string {
  return /;\s*charset\s*=\s*["']?([^"';,\s]*)/i.exec(headers.get('content-type') ?? '')?.[1] ?? ''
}

/** Decodes a text; undefined if it is none in this encoding, or the encoding is not known. */
function decoded(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
