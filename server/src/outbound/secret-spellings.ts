/** How a secret looks in the usual encodings, and which spellings of a text are searched for it. */

/** What is sought in the spellings of a text. */
export interface Needle {
  readonly text: string
  readonly where: 'anywhere' | 'word' | 'value'
}

/** Stands between the texts of a value that are searched together. */
export const SEPARATOR = '\u0001'

/** Secrets from this length on are sought in all encodings, and within other text. No fact holds one by chance. */
const LONG = 8
/**
 * Shorter ones are sought as they are, as a whole word, and within the credentials of Basic: `1234` is no part of 123456. Still shorter ones
 * only where they are the whole text. Such a secret is guessed in no time anyway.
 */
const MEDIUM = 4
/** A line of a key that has several. */
const LONG_LINE = 16
const ALIGNMENTS = [0, 1, 2]

export function needlesOf(secret: string): Needle[] {
  const anywhere = (texts: Iterable<string>): Needle[] =>
    [...new Set(texts)].filter((text) => text !== '').map((text) => ({ text, where: 'anywhere' }))
  if (secret.length < MEDIUM) return [{ text: secret, where: 'value' }]
  if (secret.length < LONG) {
    return [{ text: secret, where: 'word' }, ...anywhere(base64Forms(Buffer.from(`:${secret}`)))]
  }
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= LONG_LINE && !line.startsWith('-----'))
  const parts = lines.length > 1 ? [secret, ...lines] : [secret]
  return anywhere(parts.flatMap((part) => [...textForms(part), ...byteForms(part)]))
}

function textForms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    secret.trim(),
    secret.toLowerCase(),
    secret.toUpperCase(),
    [...secret].reverse().join(''),
    // UTF-16 that was read as bytes, in either order.
    [...secret].join('\0'),
    // UTF-8 that was read as bytes.
    bytes.toString('latin1'),
    secret.replaceAll(' ', '+'),
  ].filter((form) => form.length >= LONG)
}

function byteForms(secret: string): string[] {
  const utf16 = Buffer.from(secret, 'utf16le')
  return [Buffer.from(secret), utf16, Buffer.from(utf16).swap16()].flatMap((bytes) => [
    ...base64Forms(bytes),
    bytes.toString('hex'),
  ])
}

/** The part of its base64 that does not depend on the text around it, for each of the three alignments. */
function base64Forms(bytes: Uint8Array): string[] {
  return ALIGNMENTS.map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const firstOwn = Math.ceil((before * 8) / 6)
    const lastOwn = Math.floor(((before + bytes.length) * 8) / 6)
    return text.slice(firstOwn, lastOwn)
  })
}

/** A text, and what it says when its escapes are undone; each of these also as base64 and as hex are compared. */
export function spellings(text: string): string[] {
  const plain = [text]
  for (const one of plain) {
    if (plain.length >= MOST_READINGS) break
    plain.push(...[withoutPercents(one), withoutBackslashes(one)].filter((undone) => !plain.includes(undone)))
  }
  return [...new Set(plain.flatMap((one) => [one, asBase64(one), asHex(one)]))]
}

/** Each way to undo escapes, and both, in either order, twice. */
const MOST_READINGS = 8

function withoutPercents(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll('%', ''), 'hex').toString())
}

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function withoutBackslashes(text: string): string {
  if (!text.includes('\\')) return text
  return text.replaceAll(
    /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/gis,
    (_, four?: string, two?: string, letter = '') => {
      const digits = four ?? two
      return digits === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(digits, 16))
    },
  )
}

/** In one alphabet, without line breaks and padding. */
function asBase64(text: string): string {
  return text
    .replaceAll(/[= \t\r\n]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
}

/** In lower case, and without what separates bytes. */
function asHex(text: string): string {
  return text.replaceAll(/[:\- \t\r\n]/g, '').replaceAll(/[A-F]+/g, (digits) => digits.toLowerCase())
}
