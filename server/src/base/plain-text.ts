/** Texts of agents and destinations, for a line of a page. */

/** Control characters, and those that turn the direction of the text around them, are written as escapes: they could mislead. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
