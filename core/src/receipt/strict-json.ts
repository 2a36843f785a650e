/**
 * Reads I-JSON (RFC 7493), and refuses what two readers could understand differently: duplicate member names, lone surrogates, numbers
 * outside the range of a double.
 */
import { type JsonObject, type JsonValue, setMember } from '../json.ts'

export type JsonErrorCode = 'not_json' | 'duplicate_member' | 'lone_surrogate' | 'number_out_of_range' | 'too_deep'

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
  /** Every number is written as an integer within ±(2^53 - 1). `1.0` and `1e3` are not written as integers. */
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

/** @param maxDepth of nested objects and arrays @throws JsonError and nothing else, for any text */
export function parseStrictJson(text: string, { maxDepth = DEFAULT_MAX_DEPTH } = {}): StrictJson {
  let at = 0
  let integersOnly = true

  function fail(code: JsonErrorCode): never {
    throw new JsonError(code, at)
  }

  function skipBlanks(): void {
    for (; ; at++) {
      const char = text.charCodeAt(at)
      if (char !== SPACE && char !== LINE_FEED && char !== CARRIAGE_RETURN && char !== TAB) return
    }
  }

  function take(char: number): boolean {
    if (text.charCodeAt(at) !== char) return false
    at++
    return true
  }

  function readValue(depth: number): JsonValue {
    skipBlanks()
    switch (text.charCodeAt(at)) {
      case QUOTE:
        return readString()
      case OPEN_BRACE:
        return readObject(depth + 1)
      case OPEN_BRACKET:
        return readArray(depth + 1)
      case LETTER_T:
        return readWord('true', true)
      case LETTER_F:
        return readWord('false', false)
      case LETTER_N:
        return readWord('null', null)
      default:
        return readNumber()
    }
  }

  function readObject(depth: number): JsonObject {
    if (depth > maxDepth) fail('too_deep')
    const members: Record<string, JsonValue> = {}
    at++
    skipBlanks()
    if (take(CLOSE_BRACE)) return members
    do {
      skipBlanks()
      if (text.charCodeAt(at) !== QUOTE) fail('not_json')
      const name = readString()
      if (Object.hasOwn(members, name)) fail('duplicate_member')
      skipBlanks()
      if (!take(COLON)) fail('not_json')
      setMember(members, name, readValue(depth))
      skipBlanks()
    } while (take(COMMA))
    if (!take(CLOSE_BRACE)) fail('not_json')
    return members
  }

  function readArray(depth: number): JsonValue[] {
    if (depth > maxDepth) fail('too_deep')
    const items: JsonValue[] = []
    at++
    skipBlanks()
    if (take(CLOSE_BRACKET)) return items
    do {
      items.push(readValue(depth))
      skipBlanks()
    } while (take(COMMA))
    if (!take(CLOSE_BRACKET)) fail('not_json')
    return items
  }

  function readString(): string {
    const start = at
    let escaped = false
    at++
    for (let char = text.charCodeAt(at); char !== QUOTE; char = text.charCodeAt(at)) {
      // At the end of the text the char is NaN, and this comparison fails, too.
      if (!(char >= SPACE)) fail('not_json')
      if (char === BACKSLASH) escaped = true
      at += char === BACKSLASH ? 2 : 1
    }
    at++
    const value = escaped ? unescaped(text.slice(start, at)) : text.slice(start + 1, at - 1)
    if (LONE_SURROGATE.test(value)) fail('lone_surrogate')
    return value
  }

  function unescaped(quoted: string): string {
    try {
      return JSON.parse(quoted)
    } catch {
      return fail('not_json')
    }
  }

  function readNumber(): number {
    NUMBER.lastIndex = at
    const match = NUMBER.exec(text)
    if (!match) return fail('not_json')
    const [token, fraction, exponent] = match
    const value = Number(token)
    if (!Number.isFinite(value)) fail('number_out_of_range')
    if (fraction !== undefined || exponent !== undefined || !Number.isSafeInteger(value)) integersOnly = false
    at += token.length
    return value
  }

  function readWord<T>(word: string, value: T): T {
    if (!text.startsWith(word, at)) fail('not_json')
    at += word.length
    return value
  }

  const value = readValue(0)
  skipBlanks()
  if (at < text.length) fail('not_json')
  return { value, integersOnly }
}
