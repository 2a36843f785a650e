/**
 * Reads the few parts that are needed of a JSON object that may have megabytes, as it arrives: to parse all of it at once would hold up
 * every other check.
 */
import { DestinationError } from '@claimcheck/core/plugin'
import { bodyOf } from './reader.ts'

/**
 * By member: its whole value, or the names of its own members and the whole value of one of these at most. What is not named here is read as
 * null, as are those members' other values.
 */
export type Wanted = Readonly<Record<string, 'value' | { readonly namesAnd: string }>>

/** Of what is wanted. In bytes. */
const MAX_KEPT = 512 * 1024
const MAX_NESTING = 64

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN, CLOSE, COLON, COMMA] = new TextEncoder().encode('"\\[]{}:,')
const BLANKS: ReadonlySet<number> = new Set(new TextEncoder().encode(' \t\r\n'))
const NULL = new TextEncoder().encode('null')

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
    return depth === 1 ? way === undefined : depth === 2 && typeof way === 'object' && way.namesAnd !== inner
  }

  function inText(byte: number): void {
    if (isEscaped) isEscaped = false
    else if (byte === BACKSLASH) isEscaped = true
    else if (byte === QUOTE) {
      isText = false
      if (!isName || leftOutAt > 0) return
      isName = false
      const name = parse([...kept.slice(nameAt), byte]) as string
      if (depth === 1) member = name
      else inner = name
    }
  }

  function betweenTexts(byte: number): void {
    switch (byte) {
      case QUOTE:
        isText = true
        nameAt = kept.length
        return
      case OPEN:
      case OPEN_ARRAY:
        if (++depth > MAX_NESTING) throw new SyntaxError('the answer is too deep')
        isName = depth <= 2
        return
      case CLOSE:
      case CLOSE_ARRAY:
        if (leftOutAt === depth) leftOutAt = 0
        isOver = --depth === 0
        return
      case COMMA:
        if (leftOutAt === depth) leftOutAt = 0
        isName = depth <= 2
        return
    }
  }

  for await (const part of bodyOf(response)) {
    for (const byte of part) {
      if (isOver || (depth === 0 && byte !== OPEN)) {
        if (BLANKS.has(byte)) continue
        throw new SyntaxError('the answer is no object')
      }
      const wasText = isText
      if (isText) inText(byte)
      else betweenTexts(byte)
      if (leftOutAt > 0) continue
      kept.push(byte)
      if (!wasText && byte === COLON && isLeftOut()) {
        kept.push(...NULL)
        leftOutAt = depth
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
