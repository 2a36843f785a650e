/** Texts of others, without what a terminal would obey or what turns the direction of writing around. */

/** Control characters, and those that turn the direction of writing, are written as escapes. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
