/** Characters that turn the text beside them around, so that it reads as something else. */

const TURNS = /\p{Bidi_Control}/gu

/** Names them in place: `a[U+202E]b`. For texts of others that stand among ours. */
export function nameTurns(text: string): string {
  return text.replace(TURNS, (character) => `[U+${hex(character)}]`)
}

/** JSON that reads as the same value, without them. */
export function escapeTurns(json: string): string {
  return json.replace(TURNS, (character) => `\\u${hex(character)}`)
}

function hex(character: string): string {
  return character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
}
