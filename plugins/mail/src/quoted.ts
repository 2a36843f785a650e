/** Finds where texts in quotation marks end, which mail writes everywhere in one way. */

/** Finds the end of a text in quotation marks; undefined for one that does not end. */
export function endOfQuoted(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return undefined
}
