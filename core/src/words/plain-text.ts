/** Texts of agents and destinations, for a line of a page or a terminal. */

/** Control characters, and those that turn the direction of the text around them, are written as escapes: they could mislead. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}

/** Writes everything invisible as an escape for a terminal, joiners of characters too. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
