/** Reads the text in a file that a person gives: editors and shells write UTF-16, and byte order marks. */

export const NOT_TEXT = 'this is not text in UTF-8 or UTF-16'

/** Decodes a file's text, without a byte order mark. @throws TypeError for what is not text */
export function textOfFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
  } catch {
    throw new TypeError(NOT_TEXT)
  }
}

/** The encoding of a file by its byte order mark; without one, by where the zeros are: every JSON document begins with a character of ASCII. */
function encodingOf([first, second]: Uint8Array): string {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be'
  return 'utf-8'
}
