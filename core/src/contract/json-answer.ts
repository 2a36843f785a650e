/** Reads a destination's JSON with limits on its size and depth, so that parsing a stranger's answer does not hold up all other checks. */
import { DestinationError, isDestinationError } from './destination-error.ts'

/** Bytes of the largest usual text. A parser takes some 20 ms for the worst text of this size. */
export const USUAL_JSON_BYTES = 512 * 1024
/** Limit of the depth, because a parser takes far longer for deep text than for flat text of the same size. */
const MAX_NESTING = 64

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the JSON value in an answer's body, nested at most 64 deep, in valid UTF-8.
 *
 * @throws DestinationError `too_large`; `unexpected_response` for any other body, and for one that breaks off, unless its own error is a
 * DestinationError
 */
export async function readJson(response: Response, maxBytes = USUAL_JSON_BYTES): Promise<unknown> {
  const { status } = response
  try {
    const bytes = await readBytes(response, maxBytes)
    if (!bytes) throw new DestinationError('too_large', { status })
    if (!isShallow(bytes)) throw new RangeError('the answer is too deep')
    return parse(UTF8.decode(bytes))
  } catch (cause) {
    throw isDestinationError(cause) ? cause : new DestinationError('unexpected_response', { status, cause })
  }
}

/** Parses JSON without the parser's own error, which repeats a part of the text, and so perhaps a credential. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('the answer is no JSON')
  }
}

/** Reads a body; undefined if it has too many bytes, the rest of which stay unread. */
async function readBytes({ body }: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.length
    if (size > maxBytes) {
      await reader?.cancel()
      return undefined
    }
    chunks.push(part.value)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = new TextEncoder().encode('"\\[]{}')

function isShallow(bytes: Uint8Array): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
    if (depth > MAX_NESTING) return false
  }
  return true
}

/** The position of the quotation mark that ends a text, or the end of the bytes. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
  return at
}
