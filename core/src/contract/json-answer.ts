/** Reads a destination's JSON with limits on its size and depth: to parse what a stranger's server sends must not hold up all other checks. */
import { DestinationError, isDestinationError } from './destination-error.ts'

/** A parser takes some 20 ms for the worst text of this size. In bytes. */
export const USUAL_JSON_BYTES = 512 * 1024
/** A parser takes far longer for deep text than for flat text of the same size. */
const MAX_NESTING = 64

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value in an answer's body, nested 64 deep at most, in valid UTF-8.
 *
 * @throws DestinationError `too_large`; `unexpected_response` for what is no such JSON, and for a body that breaks off, unless its own
 * error is one
 */
export async function readJson(response: Response, maxBytes = USUAL_JSON_BYTES): Promise<unknown> {
  const { status } = response
  const unexpected = (cause: unknown) => new DestinationError('unexpected_response', { status, cause })
  try {
    const bytes = await readBytes(response, maxBytes)
    if (!bytes) throw new DestinationError('too_large', { status })
    if (!isShallow(bytes)) throw new RangeError('the answer is too deep')
    return parsed(UTF8.decode(bytes))
  } catch (cause) {
    throw isDestinationError(cause) ? cause : unexpected(cause)
  }
}

/** The parser's own error repeats a part of the text, which may repeat a credential. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('the answer is no JSON')
  }
}

/** undefined when there are too many; the rest is not read. */
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
  let isText = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (isText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > MAX_NESTING) return false
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
  }
  return true
}
