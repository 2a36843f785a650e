/**
 * Reads the few parts that are needed of a JSON object that may have megabytes, as it arrives: to parse all of it at once would hold up
 * every other check.
 */
import { DestinationError } from '@claimcheck/core/plugin'
import { bodyOf } from './reader.ts'

/** By member: its whole value, or of an object the members with these names. The rest is left out. */
export type Wanted = Readonly<Record<string, 'value' | { readonly only: readonly string[] }>>

/** Of what is wanted. In bytes. */
const MAX_KEPT = 512 * 1024
const MAX_NESTING = 64

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN, CLOSE, COLON, COMMA] = new TextEncoder().encode('"\\[]{}:,')
const BLANKS: ReadonlySet<number> = new Set(new TextEncoder().encode(' \t\r\n'))

/**
 * @throws DestinationError `too_large` where what is wanted is
 * @throws SyntaxError for what is no whole object. What is not wanted is held to its brackets and quotes alone
 */
export async function readPruned(response: Response, wanted: Wanted): Promise<unknown> {
  const kept: number[] = []
  let depth = 0
  let isText = false
  let isEscaped = false
  /** The next text is the name of a member of the outermost object, or of a member of that. */
  let isName = false
  let nameAt = 0
  let member = ''
  let inner = ''
  /** Where a value is left out: the depth of the object that it is in. 0: nowhere. */
  let leftOutAt = 0
  let isOver = false

  const ways = new Map(Object.entries(wanted))
  function isLeftOut(): boolean {
    const way = ways.get(member)
    return depth === 1 ? way === undefined : depth === 2 && typeof way === 'object' && !way.only.includes(inner)
  }

  /** Drops the name that was just read, and what follows it. */
  function beginLeftOut(): void {
    kept.length = nameAt
    leftOutAt = depth
  }

  /** What was left out is the last of its object: the comma before it goes with it. */
  function endObject(): void {
    leftOutAt = 0
    let length = kept.length
    while (BLANKS.has(kept[length - 1]!)) length--
    if (kept[length - 1] === COMMA) kept.length = length - 1
  }

  function inText(byte: number): void {
    if (isEscaped) isEscaped = false
    else if (byte === BACKSLASH) isEscaped = true
    else if (byte === QUOTE) {
      isText = false
      if (!isName) return
      isName = false
      const name = parse([...kept.slice(nameAt), byte]) as string
      if (depth === 1) member = name
      else inner = name
    }
  }

  /** @returns whether the byte belongs to what is wanted */
  function betweenTexts(byte: number): boolean {
    switch (byte) {
      case QUOTE:
        isText = true
        nameAt = kept.length
        break
      case OPEN:
      case OPEN_ARRAY:
        if (++depth > MAX_NESTING) throw new SyntaxError('the answer is too deep')
        isName = depth <= 2
        break
      case CLOSE:
      case CLOSE_ARRAY:
        if (leftOutAt === depth) endObject()
        isOver = --depth === 0
        break
      case COMMA:
        isName = depth <= 2
        if (leftOutAt !== depth) break
        leftOutAt = 0
        return false
      case COLON:
        if (leftOutAt === 0 && isLeftOut()) beginLeftOut()
    }
    return leftOutAt === 0
  }

  /** Most of a large object is text that nobody wants. @returns where it ends, or the part does */
  function skipText(part: Uint8Array, from: number): number {
    for (let at = from; at < part.length; at++) {
      const byte = part[at]
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) {
        isText = false
        return at
      }
    }
    return part.length
  }

  for await (const part of bodyOf(response)) {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at]!
      if (isOver || (depth === 0 && byte !== OPEN)) {
        if (BLANKS.has(byte)) continue
        throw new SyntaxError('the answer is no object')
      }
      if (!isText) {
        if (betweenTexts(byte)) kept.push(byte)
      } else if (leftOutAt > 0) at = skipText(part, at)
      else {
        inText(byte)
        kept.push(byte)
      }
    }
    if (kept.length > MAX_KEPT) throw new DestinationError('too_large', { status: response.status })
  }
  if (!isOver) throw new SyntaxError('the answer breaks off')
  return parse(kept)
}

/** The parser's own error repeats a part of the text, which may repeat a credential. */
function parse(bytes: readonly number[]): unknown {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes))
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('the answer is no JSON')
  }
}
