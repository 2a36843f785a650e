/**
 * Reads I-JSON (RFC 7493), and refuses what two readers could understand differently: duplicate member names, lone surrogates, numbers
 * outside the range of a double.
 */
import { type JsonObject, type JsonValue, setMember } from '../json.ts'

export type JsonErrorCode =
  | 'not_json'
  | 'duplicate_member'
  | 'lone_surrogate'
  | 'number_out_of_range'
  | 'too_deep'
  | 'too_many'

export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly code: JsonErrorCode
  /** The offset in the text, in UTF-16 code units. */
  readonly position: number

  constructor(code: JsonErrorCode, position: number) {
    super(`the JSON is refused at position ${position}: ${code}`)
    this.code = code
    this.position = position
  }
}

export interface StrictJson {
  readonly value: JsonValue
  /** Tells whether every number is written as an integer within ±(2^53 - 1). `1.0` and `1e3` are not written as integers. */
  readonly integersOnly: boolean
}

const DEFAULT_MAX_DEPTH = 64

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const LONE_SURROGATE = /\p{Surrogate}/u

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LETTER_F = 0x66
const LETTER_N = 0x6e
const LETTER_T = 0x74
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Parses I-JSON.
 * @param maxDepth limit of nested objects and arrays
 * @param maxValues limit of all members and items, each object and array included
 * @throws JsonError and nothing else, for any text
 */
export function parseStrictJson(
  text: string,
  { maxDepth = DEFAULT_MAX_DEPTH, maxValues = Number.POSITIVE_INFINITY } = {},
): StrictJson {
  return new Reader(text, maxDepth, maxValues).read()
}

/** The value of a text in which every number is a whole one; undefined for any other text. */
export function integerJson(text: string): JsonValue | undefined {
  try {
    const { value, integersOnly } = parseStrictJson(text)
    return integersOnly ? value : undefined
  } catch {
    return undefined
  }
}

class Reader {
  readonly #text: string
  readonly #maxDepth: number
  #valuesLeft: number
  #at = 0
  #integersOnly = true

  constructor(text: string, maxDepth: number, maxValues: number) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#valuesLeft = maxValues
  }

  read(): StrictJson {
    const value = this.#readValue(0)
    this.#skipBlanks()
    if (this.#at < this.#text.length) this.#fail('not_json')
    return { value, integersOnly: this.#integersOnly }
  }

  #fail(code: JsonErrorCode): never {
    throw new JsonError(code, this.#at)
  }

  #skipBlanks(): void {
    for (; ; this.#at++) {
      const char = this.#text.charCodeAt(this.#at)
      if (char !== SPACE && char !== LINE_FEED && char !== CARRIAGE_RETURN && char !== TAB) return
    }
  }

  #take(char: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== char) return false
    this.#at++
    return true
  }

  #readValue(depth: number): JsonValue {
    this.#skipBlanks()
    if (--this.#valuesLeft < 0) this.#fail('too_many')
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        return this.#readString()
      case OPEN_BRACE:
        return this.#readObject(depth + 1)
      case OPEN_BRACKET:
        return this.#readArray(depth + 1)
      case LETTER_T:
        return this.#readWord('true', true)
      case LETTER_F:
        return this.#readWord('false', false)
      case LETTER_N:
        return this.#readWord('null', null)
      default:
        return this.#readNumber()
    }
  }

  #readObject(depth: number): JsonObject {
    if (depth > this.#maxDepth) this.#fail('too_deep')
    const members: Record<string, JsonValue> = {}
    this.#at++
    this.#skipBlanks()
    if (this.#take(CLOSE_BRACE)) return members
    do {
      this.#skipBlanks()
      if (this.#text.charCodeAt(this.#at) !== QUOTE) this.#fail('not_json')
      const name = this.#readString()
      if (Object.hasOwn(members, name)) this.#fail('duplicate_member')
      this.#skipBlanks()
      if (!this.#take(COLON)) this.#fail('not_json')
      setMember(members, name, this.#readValue(depth))
      this.#skipBlanks()
    } while (this.#take(COMMA))
    if (!this.#take(CLOSE_BRACE)) this.#fail('not_json')
    return members
  }

  #readArray(depth: number): JsonValue[] {
    if (depth > this.#maxDepth) this.#fail('too_deep')
    const items: JsonValue[] = []
    this.#at++
    this.#skipBlanks()
    if (this.#take(CLOSE_BRACKET)) return items
    do {
      items.push(this.#readValue(depth))
      this.#skipBlanks()
    } while (this.#take(COMMA))
    if (!this.#take(CLOSE_BRACKET)) this.#fail('not_json')
    return items
  }

  #readString(): string {
    const start = this.#at
    let escaped = false
    this.#at++
    for (let char = this.#text.charCodeAt(this.#at); char !== QUOTE; char = this.#text.charCodeAt(this.#at)) {
      // At the end of the text the char is NaN, and this comparison fails, too.
      if (!(char >= SPACE)) this.#fail('not_json')
      if (char === BACKSLASH) escaped = true
      this.#at += char === BACKSLASH ? 2 : 1
    }
    this.#at++
    const value = escaped
      ? this.#unescape(this.#text.slice(start, this.#at))
      : this.#text.slice(start + 1, this.#at - 1)
    if (LONE_SURROGATE.test(value)) this.#fail('lone_surrogate')
    return value
  }

  #unescape(quoted: string): string {
    try {
      return JSON.parse(quoted)
    } catch {
      return this.#fail('not_json')
    }
  }

  #readNumber(): number {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (!match) return this.#fail('not_json')
    const [token, fraction, exponent] = match
    const value = Number(token)
    if (!Number.isFinite(value)) this.#fail('number_out_of_range')
    if (fraction !== undefined || exponent !== undefined || !Number.isSafeInteger(value)) this.#integersOnly = false
    this.#at += token.length
    return value
  }

  #readWord<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('not_json')
    this.#at += word.length
    return value
  }
}
