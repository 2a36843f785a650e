/** The bytes of a text in the encodings that editors and shells write. */
const utf16le = (text: string) => Buffer.from(text, 'utf16le')
const utf16be = (text: string) => utf16le(text).swap16()

export const ENCODINGS: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-8 with a byte order mark': (text) => Buffer.from(`\ufeff${text}`),
  'UTF-16LE': utf16le,
  'UTF-16BE': utf16be,
  'UTF-16LE with a byte order mark': (text) => utf16le(`\ufeff${text}`),
  'UTF-16BE with a byte order mark': (text) => utf16be(`\ufeff${text}`),
}
