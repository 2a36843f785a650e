/**
 * Reads the few parts that are needed of a JSON object that may have megabytes, as it arrives: to parse all of it at once would hold up
 * every other check.
 */
import { DestinationError } from '@claimcheck/core/plugin'
import { bodyOf } from './reader.ts'

/** The wanted part of each member: its whole value, the members of an object with these names, or the items of a list that fit. */
export type Wanted = Readonly<Record<string, 'value' | { readonly only: readonly string[] } | Items>>
interface Items {
  readonly items: (item: unknown) => boolean
}

/** Limit of the bytes of all wanted parts together. */
const MAX_KEPT = 512 * 1024
const MAX_NESTING = 64

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN, CLOSE, COLON, COMMA] = new TextEncoder().encode('"\\[]{}:,')
const BLANKS: ReadonlySet<number> = new Set(new TextEncoder().encode(' \t\r\n'))

/**
 * Reads the wanted parts of a JSON object.
 * @throws DestinationError `too_large` where what is wanted is
 * @throws SyntaxError for what is no whole object. What is not wanted is held to its brackets and quotes alone
 */
export async function readPruned(response: Response, wanted: Wanted): Promise<unknown> {
  const pruner = new Pruner(wanted)
  for await (const part of bodyOf(response)) {
    pruner.read(part)
    if (pruner.keptBytes > MAX_KEPT) throw new DestinationError('too_large', { status: response.status })
  }
  return pruner.value()
}

class Pruner {
  readonly #ways: ReadonlyMap<string, Wanted[string]>
  readonly #kept: number[] = []
  #depth = 0
  #isText = false
  #isEscaped = false
  /** Tells that the next text is the name of a member of the outermost object, or of one in it. */
  #isName = false
  #nameAt = 0
  #member = ''
  #inner = ''
  /** Depth of the object whose value is being skipped; 0 if none is. */
  #leftOutAt = 0
  /** Tells that the value of the member is a list, whose next item begins at `#itemAt`. */
  #isList = false
  #itemAt = 0
  #isOver = false

  constructor(wanted: Wanted) {
    this.#ways = new Map(Object.entries(wanted))
  }

  get keptBytes(): number {
    return this.#kept.length
  }

  read(part: Uint8Array): void {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at]!
      const isOutside = this.#isOver || (this.#depth === 0 && byte !== OPEN)
      if (isOutside && !BLANKS.has(byte)) throw new SyntaxError('the answer is no object')
      if (isOutside) continue
      if (!this.#isText) this.#betweenTexts(byte)
      else if (this.#leftOutAt > 0) at = this.#skipText(part, at)
      else {
        this.#inText(byte)
        this.#kept.push(byte)
      }
    }
  }

  value(): unknown {
    if (!this.#isOver) throw new SyntaxError('the answer breaks off')
    return parse(this.#kept)
  }

  #isLeftOut(): boolean {
    const way = this.#ways.get(this.#member)
    if (this.#depth === 1) return way === undefined
    return this.#depth === 2 && isObject(way) && !way.only.includes(this.#inner)
  }

  /** Drops the name that was just read, and what follows it. */
  #beginLeftOut(): void {
    this.#kept.length = this.#nameAt
    this.#leftOutAt = this.#depth
  }

  /** Ends a value that was left out as the last of its object or list: the comma before it goes, too. */
  #endLast(): void {
    this.#leftOutAt = 0
    let { length } = this.#kept
    while (BLANKS.has(this.#kept[length - 1]!)) length--
    if (this.#kept[length - 1] === COMMA) this.#kept.length = length - 1
  }

  /** Drops the item of a list that just ended, unless it is wanted, and tells whether it did. */
  #isDropped(): boolean {
    const way = this.#isList && this.#depth === 2 && this.#leftOutAt === 0 ? this.#ways.get(this.#member) : undefined
    if (!isItems(way)) return false
    const item = this.#kept.slice(this.#itemAt)
    const drops = item.some((byte) => !BLANKS.has(byte)) && !way.items(parse(item))
    if (drops) this.#kept.length = this.#itemAt
    else this.#itemAt = this.#kept.length + 1
    return drops
  }

  #inText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) {
      this.#isText = false
      if (!this.#isName) return
      this.#isName = false
      const name = parse([...this.#kept.slice(this.#nameAt), byte]) as string
      if (this.#depth === 1) this.#member = name
      else this.#inner = name
    }
  }

  /** Passes quickly over text that nobody wants, which most of a large object is. @returns the offset of the end of the text, or of the part */
  #skipText(part: Uint8Array, from: number): number {
    let isEscaped = this.#isEscaped
    let at = from
    for (; at < part.length; at++) {
      const byte = part[at]
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) {
        this.#isText = false
        break
      }
    }
    this.#isEscaped = isEscaped
    return at
  }

  /** Keeps the byte if it belongs to what is wanted. */
  #betweenTexts(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#isText = true
        this.#nameAt = this.#kept.length
        break
      case OPEN:
      case OPEN_ARRAY:
        this.#open(byte)
        break
      case CLOSE:
      case CLOSE_ARRAY:
        if (this.#leftOutAt === this.#depth || this.#isDropped()) this.#endLast()
        this.#isOver = --this.#depth === 0
        break
      case COMMA:
        this.#isName = this.#depth <= 2
        if (this.#isDropped()) return
        if (this.#leftOutAt !== this.#depth) break
        this.#leftOutAt = 0
        return
      case COLON:
        if (this.#leftOutAt === 0 && this.#isLeftOut()) this.#beginLeftOut()
    }
    if (this.#leftOutAt === 0) this.#kept.push(byte)
  }

  #open(byte: number): void {
    if (++this.#depth > MAX_NESTING) throw new SyntaxError('the answer is too deep')
    this.#isName = this.#depth <= 2
    if (this.#depth !== 2) return
    this.#isList = byte === OPEN_ARRAY
    this.#itemAt = this.#kept.length + 1
  }
}

function isObject(way: Wanted[string] | undefined): way is { readonly only: readonly string[] } {
  return typeof way === 'object' && 'only' in way
}

function isItems(way: Wanted[string] | undefined): way is Items {
  return typeof way === 'object' && 'items' in way
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
