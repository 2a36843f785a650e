/** The spellings of a secret in the usual encodings, and the spellings of a text that are searched for it. */

/** A text to search for, and where it counts as found. */
export interface Needle {
  readonly text: string
  readonly where: 'anywhere' | 'word' | 'value'
}

/** Separates the texts of a value that are searched together. */
export const SEPARATOR = '\u0001'

/** The length from which secrets are sought in all encodings, and within other text. No fact holds one by chance. */
const LONG = 8
/**
 * The length from which shorter secrets are sought as they are, as a whole word, and within the credentials of Basic: `1234` is no part of 123456.
 * Still shorter ones count only as the whole text. Such a secret is guessed in no time anyway.
 */
const MEDIUM = 4
/** The length from which a line of a key with several lines is sought by itself. */
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
    // UTF-16 that somebody read as bytes, in either order.
    [...secret].join('\0'),
    // UTF-8 that somebody read as bytes.
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

/** Returns the part of the bytes' base64 that does not depend on the text around it, for each of the three alignments. */
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

/** Lists a text and its forms with escapes undone, each also in the forms for comparing base64 and hex. */
export function spellings(text: string): string[] {
  const plain = [text]
  for (const one of plain) {
    if (plain.length >= MOST_READINGS) break
    plain.push(...[withoutPercents(one), withoutBackslashes(one)].filter((undone) => !plain.includes(undone)))
  }
  return [...new Set(plain.flatMap((one) => [one, asBase64(one), asHex(one)]))]
}

/** The most forms of a text with escapes undone: each way to undo them, and both, in either order, twice. */
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

/** Writes base64 in one alphabet, without line breaks and padding. */
function asBase64(text: string): string {
  return text
    .replaceAll(/[= \t\r\n]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
}

/** Writes hex in lower case, without characters that separate bytes. */
function asHex(text: string): string {
  return text.replaceAll(/[:\- \t\r\n]/g, '').replaceAll(/[A-F]+/g, (digits) => digits.toLowerCase())
}
